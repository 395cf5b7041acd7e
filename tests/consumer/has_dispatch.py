# SPDX-License-Identifier: MIT
"""Ends with 0 if this kernel has Syscall User Dispatch and lets this process use it; found without the code under test."""
import ctypes
import sys

PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF = 59, 0
sys.exit(1 if ctypes.CDLL(None).prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) else 0)
