# SPDX-License-Identifier: MIT
"""What this machine lets tests do. Root in a container may do less than root elsewhere."""
import os
import shutil
import subprocess


def can_unshare(*namespaces):
    """True if unshare(1) makes them here without a user namespace: can_unshare("--net")."""
    command = ["unshare", *namespaces, "true"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


# A container engine's seccomp profile: it answers some calls before anybody sees them.
with open("/proc/self/status", encoding="ascii") as _status:
    UNDER_A_FILTER = "\nSeccomp:\t2" in _status.read()
FILTER_REASON = "under a seccomp filter; in a container run with --security-opt seccomp=unconfined"
MAY_HAVE_NETWORKS = os.geteuid() == 0 and can_unshare("--net")
