# SPDX-License-Identifier: MIT
"""Odd surroundings in which an ordinary test starts: what attack_start (start_odd.cc) does first, or other tools do."""
import collections

Odd = collections.namedtuple("Odd", "name how before summary", defaults=((), ""))


def odd(name, how, summary, before=()):
    return Odd(name, how, before, summary)


KIB = 1024
MIB = 1024 * KIB
ODD_STARTS = [
    odd("with_8_descriptors", "nofile=8", "starts with RLIMIT_NOFILE 8"),
    odd("with_10_descriptors", "nofile=10", "starts with RLIMIT_NOFILE 10"),
    odd("with_20_descriptors", "nofile=20", "starts with RLIMIT_NOFILE 20"),
    odd("with_files_of_0_bytes", "fsize=0", "starts with RLIMIT_FSIZE 0"),
    odd("with_little_address_space", f"as={64 * MIB}", "starts with 64 MiB of address space"),
    odd("with_little_data", f"data={16 * MIB}", "starts with RLIMIT_DATA 16 MiB"),
    odd("with_a_small_stack", f"stack={128 * KIB}", "starts with a stack of 128 KiB"),
    odd("with_an_endless_stack", "stack=-1", "starts with an unlimited stack, which reverses the layout of the address space"),
    odd("with_no_locked_memory", "memlock=0", "starts with RLIMIT_MEMLOCK 0"),
    odd("with_no_pending_signals", "sigpending=0", "starts with RLIMIT_SIGPENDING 0"),
    odd("as_nobody", "user", "starts as an ordinary user"),
    odd("as_nobody_without_processes", "user,nproc=0", "starts as an ordinary user who cannot start a process"),
    odd("denying_writable_code", "mdwe", "starts under PR_SET_MDWE"),
    odd("undumpable", "undumpable", "starts undumpable"),
    odd("with_sigsys_blocked", "sigsys_blocked", "starts with SIGSYS blocked"),
    odd("with_all_signals_blocked", "all_blocked", "starts with every signal blocked"),
    odd("with_sigsys_ignored", "sigsys_ignored", "starts with SIGSYS ignored"),
    odd("without_output", "no_output", "starts without standard output and error"),
    odd("without_descriptors", "no_descriptors", "starts without descriptors 0, 1 and 2"),
    odd("with_unwritable_output", "read_only_output", "starts with a standard output that cannot be written to"),
    odd("without_proc", "no_proc", "starts without /proc"),
    odd("in_a_vanished_folder", "vanished_folder", "starts in a folder that has been removed"),
    odd("without_a_name", "nameless", "starts with an empty argv[0]"),
    odd("without_environment", "no_environment", "starts with an empty environment"),
    odd("with_umask_777", "umask=511", "starts with umask 777"),
    odd("with_the_old_layout", "compat_layout", "starts with ADDR_COMPAT_LAYOUT"),
    odd("with_executable_data", "read_implies_exec", "starts with READ_IMPLIES_EXEC"),
    odd("with_pidfd_denied", "no_pidfd=1", "starts under a filter that answers pidfd_open, clone3 and close_range with EPERM"),
    odd("with_gettid_denied", "no_gettid=1", "starts under a filter that answers gettid with EPERM"),
    odd("with_memfd_denied", "no_memfd=38", "starts under a filter that answers memfd_create with ENOSYS"),
    odd("with_membarrier_denied", "no_membarrier=38", "starts under a filter that answers membarrier and rseq with ENOSYS"),
    odd("with_sockets_denied", "no_sockets=13", "starts under a filter that answers socket and connect with EACCES"),
    odd("with_sigaltstack_denied", "no_signals=1", "starts under a filter that answers sigaltstack with EPERM"),
    odd("with_getrusage_denied", "no_clocks=1", "starts under a filter that answers getrusage and sched_getaffinity with EPERM"),
    odd("in_a_user_namespace", "", "starts as root of a user namespace", ("unshare", "-Ur")),
    odd("in_a_user_namespace_unmapped", "", "starts in a user namespace without a mapped user", ("unshare", "-U")),
    odd("in_all_namespaces", "", "starts in user, PID, network, mount and IPC namespaces", ("unshare", "-UrpfniCm", "--mount-proc")),
    odd("on_one_cpu", "", "starts on one CPU", ("taskset", "-c", "0")),
    odd("without_aslr", "", "starts without address space randomisation", ("setarch", "-R")),
]
