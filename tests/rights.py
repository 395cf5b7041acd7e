# SPDX-License-Identifier: MIT
"""What this machine lets tests do. Root in a container may do less than root elsewhere."""
import os
import shutil
import subprocess


def can_unshare(*namespaces):
    """True if unshare(1) makes them here without a user namespace: can_unshare("--net")."""
    command = ["unshare", *namespaces, "true"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


MAY_HAVE_NETWORKS = os.geteuid() == 0 and can_unshare("--net")
