#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what a trace knows of syscalls' arguments: arguments.inc (names and kinds) and constants.inc (names of values).

Names and types are the kernel's own: the files `format` of the tracepoints sys_enter_* in tracefs, which only root may
read. Values of constants are those of the installed headers: the preprocessor lists the macros, the compiler evaluates
them. What the kernel does not say is in this file: which argument takes which constants (USES), and which headers and
names make a set (SETS).

Why generated, and why into the tree: a list of a thousand values by hand breeds errors, and a build needs neither root
nor the newest headers. `./dev update arguments` runs it.

    tools/gen_argument_tables.py --out plugin/src/arguments/tables           # write
    tools/gen_argument_tables.py --out plugin/src/arguments/tables --check   # compare; exit 1 and say what differs

--check needs no root: it compares each committed constant with the value in the headers of this machine, as far as they
have it. Exit codes: 0 equal or written, 1 different, 2 it cannot be done here.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).resolve().parent.parent / "plugin/src/core/tables/syscall_table_x86_64.inc"

# The tracepoint of a call, where its name is another.
TRACEPOINTS = {"stat": "newstat", "fstat": "newfstat", "lstat": "newlstat", "uname": "newuname", "sendfile": "sendfile64",
               "umount2": "umount"}

# Strings that the kernel has read in full whenever the call succeeds, by the names of the kernel's parameters. Not those of
# NOT_READ: there a string may be ignored, may be null for a default, or has a length instead of an end.
PATHS = {"filename", "pathname", "oldname", "newname", "path", "name", "u_name", "uname", "specialfile", "from_pathname",
         "to_pathname", "new_root", "put_old", "_fs_name"}
NOT_READ = {"mount", "umount2", "fanotify_mark", "acct", "sethostname", "setdomainname", "quotactl", "move_mount", "mount_setattr",
            "open_tree", "open_tree_attr", "file_getattr", "file_setattr"}
DESCRIPTORS = {"fd", "fildes", "oldfd", "newfd", "in_fd", "out_fd", "fd_in", "fd_out", "fdin", "fdout", "epfd", "pidfd", "ufd",
               "fs_fd", "fanotify_fd", "group_fd", "ruleset_fd", "mqdes"}
DIRECTORIES = {"dfd", "olddfd", "newdfd", "from_dfd", "to_dfd"}
# By type: 64 bits, and 32 bits without a sign. The others are ints.
LONG, SIZE = {"long", "loff_t", "off_t"}, {"size_t", "unsigned long", "__u64", "u64", "aio_context_t"}
UNSIGNED = {"unsigned int", "unsigned", "u32", "__u32", "uid_t", "gid_t", "qid_t"}

# Set -> headers, pattern of its names, names left out, mask of the part that is one value (0: all bits are flags; -1: it is
# one value as a whole).
SETS = {
    "access_mode": (["unistd.h"], r"[FRWX]_OK", "", 0),
    "advice": (["sys/mman.h"], r"MADV_\w+", "", -1),
    "arch_option": (["asm/prctl.h"], r"ARCH_\w+", "", -1),
    "at_flags": (["fcntl.h"], r"AT_(SYMLINK_\w+|NO_AUTOMOUNT|EMPTY_PATH|STATX_(FORCE|DONT)_SYNC)", "", 0),
    "at_access_flags": (["fcntl.h"], r"AT_(EACCESS|SYMLINK_NOFOLLOW|EMPTY_PATH)", "", 0),
    "at_remove_flags": (["fcntl.h"], r"AT_REMOVEDIR", "", 0),
    "clock": (["linux/time.h"], r"CLOCK_\w+", "CLOCK_(SGI_CYCLE|TO_.*)", -1),
    "clone_flags": (["linux/sched.h"], r"CLONE_\w+", "CLONE_(ARGS_SIZE.*|NEWTIME|CLEAR_SIGHAND|INTO_CGROUP)", 0xff),
    "close_range_flags": (["linux/close_range.h"], r"CLOSE_RANGE_\w+", "", 0),
    "descriptor_flags": (["fcntl.h"], r"FD_CLOEXEC", "", 0),
    "epoll_flags": (["sys/epoll.h"], r"EPOLL_CLOEXEC", "", 0),
    "epoll_operation": (["sys/epoll.h"], r"EPOLL_CTL_\w+", "", -1),
    "eventfd_flags": (["sys/eventfd.h"], r"EFD_\w+", "", 0),
    "fadvise": (["fcntl.h"], r"POSIX_FADV_\w+", "", -1),
    "fallocate_mode": (["linux/falloc.h"], r"FALLOC_FL_\w+", "", 0),
    "family": (["sys/socket.h"], r"AF_\w+", "AF_(FILE|LOCAL|ROUTE|MAX)", -1),
    "fcntl_command": (["fcntl.h"], r"F_(?!.*LCK)\w+",
                      "F_(OK|LOCK|TEST|TLOCK|ULOCK|[GS]ETLKW?64|SEAL_.*|OWNER_.*|[EU].*LCK|LINUX_.*|EXLCK|SHLCK)", -1),
    "flock_operation": (["sys/file.h"], r"LOCK_(SH|EX|UN|NB)", "", 0),
    "futex_operation": (["linux/futex.h"], r"FUTEX_\w+",
                        "FUTEX_(BITSET_.*|PRIVATE_FLAG|CMD_.*|OP_.*|OWNER_.*|TID_.*|WAITERS|WAITV.*|[0-9]+|FD.*|.*_MAX)", 0xff),
    "getrandom_flags": (["linux/random.h"], r"GRND_\w+", "", 0),
    "id_type": (["sys/wait.h"], r"P_(ALL|PID|PGID|PIDFD)", "", -1),
    "inotify_flags": (["sys/inotify.h"], r"IN_(CLOEXEC|NONBLOCK)", "", 0),
    "inotify_mask": (["linux/inotify.h"], r"IN_[A-Z_]+", "IN_(CLOEXEC|NONBLOCK|CLOSE|MOVE|ALL_EVENTS)", 0),
    "interval_timer": (["linux/time.h"], r"ITIMER_\w+", "", -1),
    "ipc_command": (["linux/ipc.h"], r"IPC_(RMID|SET|STAT|INFO)", "", -1),
    "ipc_flags": (["linux/ipc.h"], r"IPC_(CREAT|EXCL|NOWAIT)", "", 0x1ff),
    "ipc_key": (["linux/ipc.h"], r"IPC_PRIVATE", "", -1),
    "map_flags": (["sys/mman.h"], r"MAP_\w+",
                  "MAP_(FILE|ANON|TYPE|HUGE_(MASK|SHIFT)|HUGE_[0-9].*|FAILED|UNINITIALIZED|ABOVE4G)", 0xf),
    "membarrier_command": (["linux/membarrier.h"], r"MEMBARRIER_CMD_\w+", "MEMBARRIER_CMD_SHARED", -1),
    "memfd_flags": (["linux/memfd.h"], r"MFD_\w+", "MFD_HUGE_.*", 0),
    "message_flags": (["sys/socket.h"], r"MSG_\w+", "MSG_(TRYHARD|EOF)", 0),
    "mlockall_flags": (["sys/mman.h"], r"MCL_\w+", "", 0),
    "mount_flags": (["sys/mount.h"], r"MS_\w+", "MS_(KERNMOUNT|SUBMOUNT|NOREMOTELOCK|NOSEC|BORN|ACTIVE|NOUSER|POSIXACL|I_VERSION|RMT_MASK|MGC_.*|ASYNC|SYNC|INVALIDATE)", 0),
    "mremap_flags": (["linux/mman.h"], r"MREMAP_\w+", "", 0),
    "msync_flags": (["sys/mman.h"], r"MS_(ASYNC|SYNC|INVALIDATE)", "", 0),
    "open_flags": (["fcntl.h"], r"O_[A-Z]+", "O_(ACCMODE|NDELAY|FSYNC|RSYNC|LARGEFILE)", 0x3),
    "open_mode_flags": (["fcntl.h"], r"O_[A-Z]+", "O_(ACCMODE|NDELAY|FSYNC|RSYNC|LARGEFILE|RDONLY|WRONLY|RDWR)", 0),
    "prctl_option": (["linux/prctl.h"], r"PR_[A-Z0-9_]+",
                     "PR_(ENDIAN|FPEMU|FP_(EXC|MODE_)|MCE_KILL_|MTE|PAC_AP|SCHED_CORE_(GET|CREATE|SHARE|MAX)|SPEC|SME_VL|SVE_VL|"
                     "SYS_DISPATCH|TAGGED|TASK_PERF_NONE|TIMING_|TSC_|UNALIGN|SET_VMA_ANON|CAP_AMBIENT_|SET_MM_).*", -1),
    "priority_of": (["sys/resource.h"], r"PRIO_(PROCESS|PGRP|USER)", "", -1),
    "protection": (["sys/mman.h"], r"PROT_\w+", "", 0),
    "protocol": (["netinet/in.h"], r"IPPROTO_\w+", "IPPROTO_MAX", -1),
    "ptrace_request": (["linux/ptrace.h"], r"PTRACE_(?!EVENT|O_|SYSCALL_INFO|EVENTMSG)[A-Z_]+", "PTRACE_(PEEKSIGINFO_SHARED|RSEQ.*)", -1),
    "rename_flags": (["linux/fs.h"], r"RENAME_\w+", "", 0),
    "request": (["sys/ioctl.h", "linux/sockios.h", "linux/fs.h"], r"(TC[GSFX]\w+|TIOC\w+|FIO[A-Z]\w+|SIOC[A-Z]\w+|FS_IOC_\w+|FICLONE\w*|BLK[A-Z]+)",
                "TIOC(PKT_.*|M_.*|SER_TEMT|INQ)|SIOC(DEVPRIVATE|PROTOPRIVATE|GSTAMP.*|INQ|OUTQ)|FS_IOC32.*", -1),
    "resource": (["sys/resource.h"], r"RLIMIT_\w+", "RLIMIT_(NLIMITS|OFILE)", -1),
    "sched_policy": (["linux/sched.h"], r"SCHED_(NORMAL|FIFO|RR|BATCH|IDLE|DEADLINE|EXT)", "", -1),
    "seccomp_operation": (["linux/seccomp.h"], r"SECCOMP_(SET|GET)_\w+", "", -1),
    "shutdown_how": (["sys/socket.h"], r"SHUT_\w+", "", -1),
    "signal": (["signal.h"], r"SIG[A-Z0-9]+", "SIG(IOT|CLD|POLL|UNUSED|STKSZ|RTMIN|RTMAX|STKFLT_.*)", -1),
    "signal_how": (["signal.h"], r"SIG_(BLOCK|UNBLOCK|SETMASK)", "", -1),
    "signalfd_flags": (["sys/signalfd.h"], r"SFD_\w+", "", 0),
    "socket_level": (["sys/socket.h", "netinet/in.h", "netinet/tcp.h", "netinet/udp.h"], r"SOL_[A-Z0-9]+", "", -1),
    "socket_option": (["asm/socket.h"], r"SO_[A-Z0-9_]+", "SO_(.*_OLD|.*_NEW|GET_FILTER)", -1),
    "socket_type": (["sys/socket.h"], r"SOCK_\w+", "", 0xf),
    "splice_flags": (["fcntl.h"], r"SPLICE_F_\w+", "", 0),
    "statx_mask": (["linux/stat.h"], r"STATX_\w+", "STATX_(ATTR_.*|_RESERVED|ALL)", 0),
    "tcp_option": (["linux/tcp.h"], r"TCP_[A-Z_]+", "TCP_(AO_.*|CM_.*|FLAG_.*|MD5SIG_.*|MSS_.*|RECEIVE_.*|S_.*|ESTABLISHED|SYN_.*|QUEUE_.*|REPAIR_O[NF].*|NO_QUEUE|SEND_QUEUE|RECV_QUEUE|LAST_ACK|LISTEN|CLOSE|NLA.*)", -1),
    "timer_flags": (["time.h"], r"TIMER_ABSTIME", "", 0),
    "timerfd_flags": (["sys/timerfd.h"], r"TFD_(CLOEXEC|NONBLOCK)", "", 0),
    "timerfd_time_flags": (["sys/timerfd.h"], r"TFD_TIMER_\w+", "", 0),
    "umount_flags": (["sys/mount.h"], r"(MNT_(FORCE|DETACH|EXPIRE)|UMOUNT_NOFOLLOW)", "", 0),
    "usage_of": (["linux/resource.h"], r"RUSAGE_\w+", "RUSAGE_BOTH", -1),
    "wait_options": (["linux/wait.h"], r"W[A-Z]+|__W[A-Z]+", "WSTOPPED", 0),
    "whence": (["linux/fs.h"], r"SEEK_\w+", "SEEK_MAX", -1),
    "xattr_flags": (["linux/xattr.h"], r"XATTR_(CREATE|REPLACE)", "", 0),
}
# Names that the headers declare as an enumeration, not as macros.
ENUMERATED = {
    "socket_type": ["SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW", "SOCK_RDM", "SOCK_SEQPACKET", "SOCK_DCCP", "SOCK_PACKET", "SOCK_CLOEXEC",
                    "SOCK_NONBLOCK"],
    "message_flags": ["MSG_OOB", "MSG_PEEK", "MSG_DONTROUTE", "MSG_CTRUNC", "MSG_PROXY", "MSG_TRUNC", "MSG_DONTWAIT", "MSG_EOR",
                      "MSG_WAITALL", "MSG_FIN", "MSG_SYN", "MSG_CONFIRM", "MSG_RST", "MSG_ERRQUEUE", "MSG_NOSIGNAL", "MSG_MORE",
                      "MSG_WAITFORONE", "MSG_BATCH", "MSG_ZEROCOPY", "MSG_FASTOPEN", "MSG_CMSG_CLOEXEC"],
    "id_type": ["P_ALL", "P_PID", "P_PGID", "P_PIDFD"],
    "priority_of": ["PRIO_PROCESS", "PRIO_PGRP", "PRIO_USER"],
    "interval_timer": ["ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"],
    "resource": ["RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_DATA", "RLIMIT_STACK", "RLIMIT_CORE", "RLIMIT_RSS", "RLIMIT_NPROC",
                 "RLIMIT_NOFILE", "RLIMIT_MEMLOCK", "RLIMIT_AS", "RLIMIT_LOCKS", "RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE",
                 "RLIMIT_NICE", "RLIMIT_RTPRIO", "RLIMIT_RTTIME"],
    "shutdown_how": ["SHUT_RD", "SHUT_WR", "SHUT_RDWR"],
    "membarrier_command": ["MEMBARRIER_CMD_QUERY", "MEMBARRIER_CMD_GLOBAL", "MEMBARRIER_CMD_GLOBAL_EXPEDITED",
                           "MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED", "MEMBARRIER_CMD_PRIVATE_EXPEDITED",
                           "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED", "MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE",
                           "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE", "MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ",
                           "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ"],
    "protocol": ["IPPROTO_IP", "IPPROTO_ICMP", "IPPROTO_IGMP", "IPPROTO_IPIP", "IPPROTO_TCP", "IPPROTO_EGP", "IPPROTO_PUP",
                 "IPPROTO_UDP", "IPPROTO_IDP", "IPPROTO_TP", "IPPROTO_DCCP", "IPPROTO_IPV6", "IPPROTO_RSVP", "IPPROTO_GRE",
                 "IPPROTO_ESP", "IPPROTO_AH", "IPPROTO_MTP", "IPPROTO_BEETPH", "IPPROTO_ENCAP", "IPPROTO_PIM", "IPPROTO_COMP",
                 "IPPROTO_L2TP", "IPPROTO_SCTP", "IPPROTO_UDPLITE", "IPPROTO_MPLS", "IPPROTO_ETHERNET", "IPPROTO_RAW", "IPPROTO_MPTCP",
                 "IPPROTO_ICMPV6"],
    "sched_policy": ["SCHED_NORMAL"],
}
# Names that glibc's headers give another value than the kernel.
KERNELS = {"open_flags": {"O_LARGEFILE": 0x8000}}
# If several names have one value, this one is printed.
PREFERRED = {"AF_UNIX", "PROT_NONE", "EFD_SEMAPHORE", "SIGIO", "SIGCHLD", "SIGABRT", "F_GETLK", "POSIX_FADV_DONTNEED", "FIONREAD",
             "IPPROTO_IP", "TCP_NODELAY", "TIOCOUTQ"}

# Call -> argument -> set, or one of the kinds hexadecimal, mode, number, unsigned_number.
USES = {
    "accept4": {"flags": "socket_type"}, "access": {"mode": "access_mode"}, "arch_prctl": {"option": "arch_option"},
    "clock_getres": {"which_clock": "clock"}, "clock_gettime": {"which_clock": "clock"}, "clock_settime": {"which_clock": "clock"},
    "clock_nanosleep": {"which_clock": "clock", "flags": "timer_flags"}, "clone": {"clone_flags": "clone_flags"},
    "close_range": {"flags": "close_range_flags"}, "dup3": {"flags": "open_mode_flags"}, "epoll_create1": {"flags": "epoll_flags"},
    "epoll_ctl": {"op": "epoll_operation"}, "eventfd2": {"flags": "eventfd_flags"}, "faccessat": {"mode": "access_mode"},
    "faccessat2": {"mode": "access_mode", "flags": "at_access_flags"}, "fadvise64": {"advice": "fadvise"},
    "fallocate": {"mode": "fallocate_mode"}, "fchmodat2": {"flags": "at_flags"}, "fchownat": {"flag": "at_flags"},
    "fcntl": {"cmd": "fcntl_command", "arg": "hexadecimal"}, "flock": {"cmd": "flock_operation"},
    "fsetxattr": {"flags": "xattr_flags"}, "futex": {"op": "futex_operation", "val": "unsigned_number", "val3": "hexadecimal"},
    "getitimer": {"which": "interval_timer"}, "getpriority": {"which": "priority_of"}, "getrandom": {"flags": "getrandom_flags"},
    "getrlimit": {"resource": "resource"}, "getrusage": {"who": "usage_of"}, "getsockopt": {"level": "socket_level", "optname": "socket_option"},
    "inotify_add_watch": {"mask": "inotify_mask"}, "inotify_init1": {"flags": "inotify_flags"}, "ioctl": {"cmd": "request", "arg": "hexadecimal"},
    "kill": {"sig": "signal"}, "linkat": {"flags": "at_flags"}, "lseek": {"whence": "whence"}, "lsetxattr": {"flags": "xattr_flags"},
    "mincore": {"start": "address"}, "mlock2": {"start": "address"}, "remap_file_pages": {"start": "address"},
    "pkey_mprotect": {"start": "address", "prot": "protection"},
    "madvise": {"behavior": "advice", "start": "address"}, "membarrier": {"cmd": "membarrier_command"}, "memfd_create": {"flags": "memfd_flags"},
    "mlockall": {"flags": "mlockall_flags"}, "mmap": {"prot": "protection", "flags": "map_flags", "addr": "address", "off": "hexadecimal"},
    "mount": {"flags": "mount_flags"}, "mprotect": {"prot": "protection", "start": "address"}, "munmap": {"addr": "address"},
    "mremap": {"flags": "mremap_flags", "addr": "address", "new_addr": "address"}, "brk": {"brk": "address"},
    "msync": {"flags": "msync_flags", "start": "address"}, "mlock": {"start": "address"}, "munlock": {"start": "address"},
    "name_to_handle_at": {"flag": "at_flags"}, "newfstatat": {"flag": "at_flags"}, "open": {"flags": "open_flags", "mode": "mode"},
    "openat": {"flags": "open_flags", "mode": "mode"}, "pidfd_send_signal": {"sig": "signal"}, "pipe2": {"flags": "open_mode_flags"},
    "prctl": {"option": "prctl_option", "arg2": "hexadecimal", "arg3": "hexadecimal", "arg4": "hexadecimal", "arg5": "hexadecimal"}, "prlimit64": {"resource": "resource"}, "ptrace": {"request": "ptrace_request"},
    "recvfrom": {"flags": "message_flags"}, "recvmmsg": {"flags": "message_flags"}, "recvmsg": {"flags": "message_flags"},
    "renameat2": {"flags": "rename_flags"}, "rt_sigaction": {"sig": "signal"}, "rt_sigprocmask": {"how": "signal_how"},
    "rt_sigqueueinfo": {"sig": "signal"}, "rt_tgsigqueueinfo": {"sig": "signal"}, "sched_setscheduler": {"policy": "sched_policy"},
    "sched_get_priority_max": {"policy": "sched_policy"}, "sched_get_priority_min": {"policy": "sched_policy"},
    "seccomp": {"op": "seccomp_operation"}, "semctl": {"cmd": "ipc_command"}, "semget": {"key": "ipc_key", "semflg": "ipc_flags"},
    "msgget": {"key": "ipc_key", "msgflg": "ipc_flags"}, "shmget": {"key": "ipc_key", "shmflg": "ipc_flags"},
    "msgctl": {"cmd": "ipc_command"}, "shmctl": {"cmd": "ipc_command"}, "sendmmsg": {"flags": "message_flags"},
    "sendmsg": {"flags": "message_flags"}, "sendto": {"flags": "message_flags"}, "setitimer": {"which": "interval_timer"},
    "setpriority": {"which": "priority_of"}, "setrlimit": {"resource": "resource"},
    "setsockopt": {"level": "socket_level", "optname": "socket_option"}, "setxattr": {"flags": "xattr_flags"},
    "shutdown": {"how": "shutdown_how"}, "signalfd4": {"flags": "signalfd_flags"},
    "socket": {"family": "family", "type": "socket_type", "protocol": "protocol"},
    "socketpair": {"family": "family", "type": "socket_type", "protocol": "number"}, "splice": {"flags": "splice_flags"},
    "statx": {"flags": "at_flags", "mask": "statx_mask"}, "tee": {"flags": "splice_flags"}, "tgkill": {"sig": "signal"},
    "timer_create": {"which_clock": "clock"}, "timer_settime": {"flags": "timer_flags"}, "timerfd_create": {"clockid": "clock", "flags": "timerfd_flags"},
    "timerfd_settime": {"flags": "timerfd_time_flags"}, "tkill": {"sig": "signal"}, "umount2": {"flags": "umount_flags"},
    "unlinkat": {"flag": "at_remove_flags"}, "utimensat": {"flags": "at_flags"}, "vmsplice": {"flags": "splice_flags"},
    "wait4": {"options": "wait_options"}, "waitid": {"which": "id_type", "options": "wait_options"},
}
MARK = "// Generated by tools/gen_argument_tables.py: do not edit."


class Problem(Exception):
    pass


# ---- arguments ----

def syscalls():
    return re.findall(r'SYSCOST_SYSCALL\((\d+), "(\w+)"', TABLE.read_text(encoding="utf-8"))


def parameters(events, name):
    """(type, name) of each, or None if the kernel has no such tracepoint."""
    path = events / ("sys_enter_" + TRACEPOINTS.get(name, name)) / "format"
    if not path.exists():
        return None
    found = re.findall(r"field:(.*?)(\*?)\s*(\w+);\s*offset:(\d+)", path.read_text(encoding="utf-8"))
    return [((kind.strip() + " " + star).strip(), field) for kind, star, field, offset in found if int(offset) >= 16]


def kind_of(call, kind, name):
    used = USES.get(call, {}).get(name)
    if used in SETS:
        return "constants", used
    if used is not None:
        return used, None
    if "char *" in kind and name in PATHS and call not in NOT_READ:
        return "path", None
    if "*" in kind or kind.endswith("_t") and "cap_user" in kind:
        return "address", None
    if name in DIRECTORIES:
        return "directory", None
    if name in DESCRIPTORS:
        return "descriptor", None
    if kind == "umode_t":
        return "mode", None
    plain = kind.removeprefix("const ")
    if plain in SIZE | UNSIGNED and name in ("flags", "flag", "mask"):
        return "hexadecimal", None
    words = {"long_number": LONG, "size": SIZE, "unsigned_number": UNSIGNED}
    return next((word for word, types in words.items() if plain in types), "number"), None


def render_arguments(events):
    lines = ["// SPDX-License-Identifier: MIT", "//", "// The arguments of x86_64's syscalls as the kernel names them.", MARK]
    known = set()
    for number, name in syscalls():
        found = parameters(events, name)
        if found is None:
            continue
        known.add(name)
        unused = set(USES.get(name, {})) - {field for _, field in found}
        if unused:
            raise Problem(f"USES names arguments of {name} that it has not: {', '.join(sorted(unused))}; it has {found}")
        items = []
        for kind, field in found:
            word, constants = kind_of(name, kind, field)
            items.append(f'{{"{field.strip("_")}", ArgumentKind::{word}' + (f", ConstantSet::{constants}" if constants else "") + "}")
        lines.append(f"SYSCOST_ARGUMENTS({number}, {', '.join(items)})" if items else f"SYSCOST_ARGUMENTS({number})")
    if set(USES) - known:
        raise Problem(f"USES names calls without a tracepoint: {', '.join(sorted(set(USES) - known))}")
    return "\n".join(lines) + "\n"


# ---- constants ----

def compiler(text, *arguments):
    done = subprocess.run(["cc", "-D_GNU_SOURCE", "-x", "c", *arguments, "-"], input=text, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise Problem(f"the C compiler cannot read the headers: {done.stderr.strip()[:400]}")
    return done.stdout


def includes_of(headers):
    def is_there(header):
        return subprocess.run(["cc", "-E", "-x", "c", "-"], input=f"#include <{header}>\n", text=True, capture_output=True,
                              check=False).returncode == 0
    return "".join(f"#include <{header}>\n" for header in headers if is_there(header))


def names_of(word):
    headers, pattern, left_out, _ = SETS[word]
    macros = re.findall(r"(?m)^#define (\w+) \S", compiler(includes_of(headers), "-E", "-dM"))
    names = {name for name in macros if re.fullmatch(pattern, name) and not (left_out and re.fullmatch(left_out, name))}
    return sorted(names | set(ENUMERATED.get(word, [])))


def values_of(word, names):
    """name -> value, of those names that the headers here know as integers."""
    includes = includes_of(SETS[word][0])
    def evaluate(some):
        text = includes + "#include <stdio.h>\nint main(void) {\n"
        text += "".join(f'printf("{name} %llu\\n", (unsigned long long)(unsigned)({name}));\n' for name in some) + "}\n"
        with tempfile.TemporaryDirectory() as folder:
            program = folder + "/values"
            compiler(text, "-w", "-o", program)
            printed = subprocess.run([program], text=True, capture_output=True, check=True).stdout
        return {line.split()[0]: int(line.split()[1]) for line in printed.splitlines()}
    try:
        return evaluate(names)
    except Problem:
        good = {}
        for name in names:
            try:
                good |= evaluate([name])
            except Problem:
                pass
        return good


def ordered(word, values):
    """(value, name): of one value the preferred name or the first; values of several bits go first, because they are names of all."""
    by_value = {}
    for name in sorted(values, key=lambda name: (name not in PREFERRED, len(name), name)):
        by_value.setdefault(values[name], name)
    mask = SETS[word][3]
    if mask == -1:
        return sorted(by_value.items())
    return sorted(by_value.items(), key=lambda item: (-bin(item[0] & ~mask).count("1"), item[0]))


def render_constants():
    lines = ["// SPDX-License-Identifier: MIT", "//",
             "// Sets of constants: a name, the mask of the part that is one value, and (value, name) of each.", MARK]
    for word, (_, _, _, mask) in SETS.items():
        values = ordered(word, values_of(word, names_of(word)) | KERNELS.get(word, {}))
        if not values:
            raise Problem(f"the headers here have no constants for {word}")
        items = "".join(f'\n    SYSCOST_CONSTANT({value:#x}, "{name}")' for value, name in values)
        lines.append(f"SYSCOST_CONSTANTS({word}, {mask & 0xffffffff:#x}, {items})")
    return "\n".join(lines) + "\n"


def differences_of_constants(text):
    """Committed constants that have another value in the headers here."""
    faults = []
    for word, items in re.findall(r"(?s)SYSCOST_CONSTANTS\((\w+), \w+, (.*?)\)\n(?=SYSCOST_CONSTANTS|\Z)", text):
        committed = {name: int(value, 16) for value, name in re.findall(r'SYSCOST_CONSTANT\((\w+), "(\w+)"\)', items)}
        here = values_of(word, sorted(committed))
        faults += [f"{word}: {name} is {value:#x} in the table and {here[name]:#x} in the headers"
                   for name, value in committed.items()
                   if name in here and here[name] != value and name not in KERNELS.get(word, {})]
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the tables: plugin/src/arguments/tables")
    parser.add_argument("--tracefs", type=pathlib.Path, default=pathlib.Path("/sys/kernel/tracing"), help="where tracefs is mounted")
    parser.add_argument("--check", action="store_true", help="write nothing; compare with the headers of this machine")
    options = parser.parse_args()
    if options.check:
        faults = differences_of_constants((options.out / "constants.inc").read_text(encoding="utf-8"))
        print("\n".join(faults), end="\n" if faults else "")
        if faults:
            print("write the tables anew and commit them: ./dev update arguments")
        return 1 if faults else 0
    events = options.tracefs / "events/syscalls"
    if not events.is_dir():
        raise Problem(f"{events} cannot be read: run as root, with tracefs mounted (mount -t tracefs tracefs {options.tracefs})")
    for name, text in [("arguments.inc", render_arguments(events)), ("constants.inc", render_constants())]:
        (options.out / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        print(f"gen_argument_tables: {problem}", file=sys.stderr)
        sys.exit(2)
