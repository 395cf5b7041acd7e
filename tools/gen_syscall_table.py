#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the syscall tables that syscost_core compiles in: number, name and classes, one file per ABI. x32 has most
calls of x86_64 under the same numbers, so its file lists only the numbers that differ.

Why generated, and why into the tree: names belong to the kernel's user-space headers, and typing 1200 lines by hand
breeds errors; but a build must not depend on which headers a machine happens to have, or the same CSV would name
syscalls differently on two machines. So it runs (`./dev update tables`) when a kernel adds a syscall, its output is
committed, and a test runs it again and compares. Exit codes: 0 equal or written, 1 different, 2 it cannot be done here.

    tools/gen_syscall_table.py --out plugin/src/core/tables            # write
    tools/gen_syscall_table.py --out plugin/src/core/tables --check    # compare; exit 1 and say what differs

Sources of a name, in this order: the headers asm/unistd_64.h, unistd_32.h and unistd_x32.h (--headers), and NEWER below
for what kernels up to Linux 6.18 added after the oldest headers we support (Linux 6.1). Where both have a number they
must agree. Numbers beyond LAST_NUMBER are left out, so that newer headers give the same tables.

Classes %file ... %signal have strace's words and membership, so that `-e trace=%file` and our %file mean the same
(taken from what strace 6.1 prints for each class, for later calls from its later versions). The others are our own, see
WAIT and VOLATILE. The words of all classes stand in plugin/include/syscost/schema.h, too.
"""

import argparse
import difflib
import pathlib
import re
import sys

# file_setattr: the last syscall of Linux 6.18.
LAST_NUMBER = 469

# Added after Linux 6.1, by number. From 424 on all architectures share their numbers.
NEWER = {
    451: "cachestat",
    452: "fchmodat2",
    453: "map_shadow_stack",
    454: "futex_wake",
    455: "futex_wait",
    456: "futex_requeue",
    457: "statmount",
    458: "listmount",
    459: "lsm_get_self_attr",
    460: "lsm_set_self_attr",
    461: "lsm_list_modules",
    462: "mseal",
    463: "setxattrat",
    464: "getxattrat",
    465: "listxattrat",
    466: "removexattrat",
    467: "open_tree_attr",
    468: "file_getattr",
    469: "file_setattr",
}
# Outside the shared range: what the kernel's own trampolines for user probes call.
NEWER_64 = {335: "uretprobe", 336: "uprobe"}

# Calls that block by design: their time is waiting for somebody else, never work, and is always shown apart. Calls that
# may block on a device or a peer while they move data (read, accept, recvmsg, flock, io_uring_enter) are not among
# them: their time is what the caller asked for. restart_syscall continues a sleep, a futex or a poll.
WAIT = """
    _newselect clock_nanosleep clock_nanosleep_time64 epoll_pwait epoll_pwait2 epoll_wait futex futex_time64 futex_wait
    futex_waitv io_getevents io_pgetevents io_pgetevents_time64 nanosleep pause poll ppoll ppoll_time64 pselect6
    pselect6_time64 restart_syscall rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 select semop semtimedop
    semtimedop_time64 sigsuspend wait4 waitid waitpid
"""

# The number of these calls depends on scheduling, on time or on the state of libc, not on the code under test: two runs
# of one binary differ. They are: locks (futex, sched_yield); event loops (how many events one poll brings, how often it
# times out); loops that sleep until something has happened (nanosleep); calls of malloc (mprotect: arenas of threads
# grow by it); the random bytes of temporary names (glibc asks again when a name is taken); what glibc asks about a
# thread's scheduling when it makes one; what a new thread asks for itself (rseq, set_robust_list) when it first runs,
# which may be in the next window; the end of each signal handler (rt_sigreturn): a timer interrupts at any moment, and
# the call that sends a signal is counted itself. They are reported, but gated only on request.
VOLATILE = """
    _newselect brk clock_nanosleep clock_nanosleep_time64 epoll_pwait epoll_pwait2 epoll_wait futex futex_requeue
    futex_time64 futex_wait futex_waitv futex_wake getrandom madvise mmap mmap2 mprotect mremap munmap nanosleep poll
    ppoll ppoll_time64 pselect6 pselect6_time64 restart_syscall rseq rt_sigreturn sched_getaffinity sched_getattr
    sched_getparam sched_getscheduler sched_yield select set_robust_list sigreturn
"""

# Differs from strace in one place: socketcall (i386) is in "network", where strace decodes it into the calls it wraps.
CLASSES = {
    "file": """
        access acct chdir chmod chown chown32 chroot creat execve execveat faccessat faccessat2 fanotify_mark
        fchmodat fchmodat2 fchownat file_getattr file_setattr fsconfig fspick fstatat64 futimesat getcwd
        getxattr getxattrat inotify_add_watch lchown lchown32 lgetxattr link linkat listxattr listxattrat
        llistxattr lremovexattr lsetxattr lstat lstat64 mkdir mkdirat mknod mknodat mount mount_setattr
        move_mount name_to_handle_at newfstatat oldlstat oldstat open open_tree open_tree_attr openat openat2
        pivot_root quotactl readlink readlinkat removexattr removexattrat rename renameat renameat2 rmdir
        setxattr setxattrat stat stat64 statfs statfs64 statx swapoff swapon symlink symlinkat truncate
        truncate64 umount umount2 unlink unlinkat uselib utime utimensat utimensat_time64 utimes""",
    "desc": """
        _llseek _newselect bpf cachestat close copy_file_range creat dup dup2 dup3 epoll_create epoll_create1
        epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execveat faccessat faccessat2 fadvise64
        fadvise64_64 fallocate fanotify_init fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown fchown32
        fchownat fcntl fcntl64 fdatasync fgetxattr file_getattr file_setattr finit_module flistxattr flock
        fremovexattr fsconfig fsetxattr fsmount fsopen fspick fstat fstat64 fstatat64 fstatfs fstatfs64 fsync
        ftruncate ftruncate64 futimesat getdents getdents64 getxattrat inotify_add_watch inotify_init
        inotify_init1 inotify_rm_watch io_uring_enter io_uring_register io_uring_setup ioctl kexec_file_load
        landlock_add_rule landlock_create_ruleset landlock_restrict_self linkat listxattrat lseek memfd_create
        memfd_secret mkdirat mknodat mmap mmap2 mount_setattr move_mount mq_getsetattr mq_notify mq_open
        mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 name_to_handle_at newfstatat
        oldfstat open open_by_handle_at open_tree open_tree_attr openat openat2 perf_event_open pidfd_getfd
        pidfd_open pidfd_send_signal pipe pipe2 poll ppoll ppoll_time64 pread64 preadv preadv2 process_madvise
        process_mrelease pselect6 pselect6_time64 pwrite64 pwritev pwritev2 quotactl_fd read readahead readdir
        readlinkat readv removexattrat renameat renameat2 select sendfile sendfile64 setns setxattrat signalfd
        signalfd4 socketcall splice statx symlinkat sync_file_range syncfs tee timerfd_create timerfd_gettime
        timerfd_gettime64 timerfd_settime timerfd_settime64 unlinkat userfaultfd utimensat utimensat_time64
        vmsplice write writev""",
    "network": """
        accept accept4 bind connect getpeername getpmsg getsockname getsockopt listen putpmsg recvfrom recvmmsg
        recvmmsg_time64 recvmsg sendfile sendfile64 sendmmsg sendmsg sendto setsockopt shutdown socket
        socketcall socketpair""",
    "memory": """
        break brk get_mempolicy io_destroy io_setup io_uring_register madvise map_shadow_stack mbind
        migrate_pages mincore mlock mlock2 mlockall mmap mmap2 move_pages mprotect mremap mseal msync munlock
        munlockall munmap pkey_mprotect remap_file_pages set_mempolicy set_mempolicy_home_node shmat shmdt""",
    "process": """
        clone clone3 execve execveat exit exit_group fork kill pidfd_send_signal rt_sigqueueinfo
        rt_tgsigqueueinfo tgkill tkill vfork wait4 waitid waitpid""",
    "signal": """
        io_uring_enter kill pause pidfd_send_signal rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo
        rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sgetmask sigaction
        sigaltstack signal signalfd signalfd4 sigpending sigprocmask sigreturn sigsuspend ssetmask tgkill tkill""",
    "wait": WAIT,
    "volatile": VOLATILE,
}

# How many bytes a call moves or maps: which way they go, and where the number comes from (core/tables/byte_sources.h).
# RESULT: it is the call's result. SIZE_n: also, and argument n is the size that was asked for, so that a short call
# shows. UNKNOWN: the call moves data, and nothing says how much: messages, requests in memory, or (i386) arguments in
# memory. getdents64, readlink and calls that copy a struct are not among them: that is no data of the program's.
# OPENS_n: the call moves none; argument n is the path of the file that it opens, which may be one of the kernel's.
BYTES = {
    ("READS", "SIZE_3"): "read pread64 recvfrom",
    ("READS", "SIZE_2"): "getrandom",
    ("READS", "RESULT"): "readv preadv preadv2 recvmsg process_vm_readv",
    ("WRITES", "SIZE_3"): "write pwrite64 sendto",
    ("WRITES", "RESULT"): "writev pwritev pwritev2 sendmsg vmsplice process_vm_writev",
    ("BOTH", "SIZE_3"): "tee",
    ("BOTH", "SIZE_4"): "sendfile sendfile64",
    ("BOTH", "SIZE_5"): "splice copy_file_range",
    ("MAPS", "LENGTH"): "mmap mmap2",
    ("MAPS", "REMAP"): "mremap",
    ("MAPS", "BREAK"): "brk",
    ("UNMAPS", "RELEASE"): "munmap",
    ("NONE", "OPENS_1"): "open",
    ("NONE", "OPENS_2"): "openat",
    ("NONE", "OPENS_HOW"): "openat2",
    ("UNKNOWN", "NONE"): "sendmmsg recvmmsg recvmmsg_time64 io_uring_enter io_submit socketcall",
}
# Which arguments of those calls are the descriptors that data goes through, for --syscost_detail file: one, or from one
# to another. The others take none, or one that says nothing of the data (io_uring_enter).
FILES = {
    "1": "read pread64 recvfrom readv preadv preadv2 recvmsg recvmmsg write pwrite64 sendto writev pwritev pwritev2 sendmsg sendmmsg vmsplice",
    "2_TO_1": "sendfile",
    "1_TO_2": "tee",
    "1_TO_3": "splice copy_file_range",
}
# i386's first mmap has its arguments in memory.
UNKNOWN_BYTES = {("i386", "mmap"): ("MAPS", "NONE")}

# ABI -> (header, expression around the number, names to add)
ABIS = {
    "x86_64": ("unistd_64.h", r"(\d+)", {**NEWER, **NEWER_64}),
    "i386": ("unistd_32.h", r"(\d+)", NEWER),
    "x32": ("unistd_x32.h", r"\(__X32_SYSCALL_BIT \+ (\d+)\)", {**NEWER, **NEWER_64}),
}
# x32 has calls of its own from 512 on; the numbers stand in the header without surprises.
X32_OWN_NUMBERS = range(512, 548)


# "volatile" is a word of C++.
IDENTIFIERS = {"volatile": "volatile_"}


class Problem(Exception):
    """Something a person has to resolve."""


def header_names(path, number):
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Problem(
            f"cannot read {path}: {error.strerror}; install linux-libc-dev or name a folder with --headers"
        ) from error
    names = {int(m[2]): m[1] for m in re.finditer(rf"^#define __NR_(\w+) {number}$", text, re.MULTILINE)}
    if not names:
        raise Problem(f"{path} defines no syscall numbers; --headers must name a folder of x86 headers")
    return names


def table(abi, headers):
    file_name, number, newer = ABIS[abi]
    names = header_names(headers / file_name, number)
    for value, name in newer.items():
        if names.setdefault(value, name) != name:
            raise Problem(f"{file_name} calls {value} '{names[value]}', this tool calls it '{name}'")
    return {n: names[n] for n in sorted(names) if n <= LAST_NUMBER or (abi == "x32" and n in X32_OWN_NUMBERS)}


def differences(names, base):
    """What has to change in `base` to have `names`; an empty name for a number that goes."""
    return {n: names.get(n, "") for n in sorted({*names, *base}) if names.get(n) != base.get(n)}


def render(abi, names, members):
    lines = ["// SPDX-License-Identifier: MIT", "//"]
    if abi == "x32":
        lines += [
            "// x32: the numbers up to Linux 6.18 that differ from x86_64's; one without a name is no call of x32.",
            "// Generated by tools/gen_syscall_table.py: do not edit.",
        ]
    else:
        lines += [
            f"// {abi}: number, name and classes of every syscall up to Linux 6.18. Generated by tools/gen_syscall_table.py:",
            "// do not edit.",
        ]
    for number, name in names.items():
        classes = " | ".join(f"SyscallClass::{IDENTIFIERS.get(word, word)}" for word, of in members.items() if name in of)
        lines.append(f'SYSCOST_SYSCALL({number}, "{name}", {classes or "SyscallClass::none"})')
    return "\n".join(lines) + "\n"


def render_bytes(tables):
    lines = ["// SPDX-License-Identifier: MIT OR GPL-2.0", "//",
             "// SYSCOST_BYTES(abi, number, way, source, files) of every syscall that moves or maps bytes, or opens a file: byte_sources.h.",
             "// Generated by tools/gen_syscall_table.py: do not edit."]
    files_of = {name: files for files, names in FILES.items() for name in names.split()}
    of_name = {name: kind for kind, names in BYTES.items() for name in names.split()}
    for index, (abi, names) in enumerate(tables.items()):
        for number, name in names.items():
            if name not in of_name:
                continue
            way, source = UNKNOWN_BYTES.get((abi, name), of_name[name])
            # As ioctl's, descriptors are looked at in calls of the native ABI only.
            files = files_of.get(name, "NONE") if abi == "x86_64" else "NONE"
            lines.append(f"SYSCOST_BYTES({index}, {number}, {way}, {source}, {files})  // {abi_prefix(abi)}{name}")
    return "\n".join(lines) + "\n"


def abi_prefix(abi):
    return "" if abi == "x86_64" else abi + ":"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headers", type=pathlib.Path, default=None, help="folder that holds unistd_64.h")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the tables: plugin/src/core/tables")
    parser.add_argument("--check", action="store_true", help="write nothing; compare with what is there")
    options = parser.parse_args()
    usual = [pathlib.Path("/usr/include/x86_64-linux-gnu/asm"), pathlib.Path("/usr/include/asm")]
    headers = options.headers or next((p for p in usual if (p / "unistd_64.h").exists()), usual[0])

    members = {word: set(names.split()) for word, names in CLASSES.items()}
    tables = {abi: table(abi, headers) for abi in ABIS}
    known = {name for names in tables.values() for name in names.values()}
    for word, names in members.items():
        if names - known:
            raise Problem(f"class {word} names unknown syscalls: {', '.join(sorted(names - known))}")
    for (way, source), names in BYTES.items():
        if set(names.split()) - known:
            raise Problem(f"bytes {way} {source} name unknown syscalls: {', '.join(sorted(set(names.split()) - known))}")
    moving = {name for names in BYTES.values() for name in names.split()}
    if left := {name for names in FILES.values() for name in names.split()} - moving:
        raise Problem(f"files are named of calls that move no bytes: {', '.join(sorted(left))}")
    texts = {"bytes_moved.inc": render_bytes(tables)}
    tables["x32"] = differences(tables["x32"], tables["x86_64"])
    texts.update({f"syscall_table_{abi}.inc": render(abi, names, members) for abi, names in tables.items()})

    differs = False
    for name, text in texts.items():
        path = options.out / name
        if not options.check:
            path.write_text(text, encoding="utf-8")
            continue
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        diff = list(difflib.unified_diff(there.splitlines(), text.splitlines(), str(path), "generated", lineterm=""))
        differs = differs or bool(diff)
        print("\n".join(diff), end="\n" if diff else "")
    if differs:
        print("write the tables anew and commit them: ./dev update tables")
    return 1 if differs else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        print(f"gen_syscall_table: {problem}", file=sys.stderr)
        sys.exit(2)
