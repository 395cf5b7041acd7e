# SPDX-License-Identifier: MIT
"""A network and mounts for one test: it meets no helper of the machine, and leaves none of its own."""
import ctypes
import os
import subprocess

CLONE_NEWNET, CLONE_NEWNS = 0x40000000, 0x20000


def enter():
    """Moves the calling process there. /run, where a helper for everyone has its socket, is empty. Returns why that cannot
    be had here, or None."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNET | CLONE_NEWNS) != 0:
        return "namespaces of its own need root"
    private = subprocess.run(["mount", "--make-rprivate", "/"], stderr=subprocess.PIPE, text=True, check=False)
    if private.returncode != 0:
        return ("/ is no mount point, as in a chroot, so the machine would see what is mounted here; mount --bind the chroot's folder "
                f"onto itself ({private.stderr.splitlines()[0]})")
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
    return None


def processes_of(program):
    """Process ids of those in this network that run a program with the file name of `program`."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if (os.path.basename(os.readlink(f"/proc/{entry}/exe")) == os.path.basename(program)
                    and os.readlink(f"/proc/{entry}/ns/net") == os.readlink("/proc/self/ns/net")):
                found.append(int(entry))
        except OSError:
            pass  # it has ended
    return found
