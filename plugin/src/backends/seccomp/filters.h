// SPDX-License-Identifier: MIT
//
// Seccomp filters: the one that we install, which libseccomp compiles, and those of the program that ask a tracer.
//
// The kernel runs our filter at each entry of a syscall. It decides which calls stop and notify the supervisor: all
// that --syscost_filter selects, with these exceptions and additions:
//
//   rt_sigreturn, sigreturn   never: if a signal arrived before the supervisor has received the notification, the
//                             kernel would return EINTR, and a sigreturn that returns crashes the program
//   gettid, futex, close,     not if the sixth argument, which they ignore, is our cookie: the call is our own
//   fstat, wait4
//   restart_syscall           if one of the four calls that it may resume is selected; then all four are, too: it is
//                             counted as the last call of the thread, so that call must be known
//   other ABIs, new numbers   always, because they are rare: the supervisor drops those that are not selected
#pragma once

#include <linux/filter.h>
#include <seccomp.h>

#include <array>
#include <cstdint>
#include <vector>

#include "backends/seccomp/listener.h"
#include "core/selector.h"
#include "core/syscall_id.h"
#include "os/errors.h"

namespace syscost::seccomp {

/// Syscalls that this backend cannot count.
inline constexpr std::array kUncountable = {SyscallId{Abi::x86_64, 15}, SyscallId{Abi::x32, 513},
                                            SyscallId{Abi::i386, 173}, SyscallId{Abi::i386, 119}};

/// True for restart_syscall, by which the kernel continues a call that a signal stopped.
bool is_restart_syscall(SyscallId id);
/// True for a call that it may continue.
bool is_resumable(SyscallId id);

/// Makes our filter's program. `filter` null = everything. `cookie` is not 0. Makes syscalls: between windows only.
Result<std::vector<sock_filter>> make_filter_program(const Filter* filter, std::uint64_t cookie);

// Loads libseccomp at run time, for the same reason as libbpf (docs/decisions/0001): a measured program must start on a
// machine without it, and must not see its symbols.

#define SYSCOST_LIBSECCOMP_FUNCTIONS(X) \
  X(seccomp_api_get)                    \
  X(seccomp_arch_add)                   \
  X(seccomp_arch_remove)                \
  X(seccomp_attr_set)                   \
  X(seccomp_export_bpf)                 \
  X(seccomp_init)                       \
  X(seccomp_merge)                      \
  X(seccomp_release)                    \
  X(seccomp_rule_add_array)

struct LibseccompApi {
#define SYSCOST_LIBSECCOMP_POINTER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  SYSCOST_LIBSECCOMP_FUNCTIONS(SYSCOST_LIBSECCOMP_POINTER)
#undef SYSCOST_LIBSECCOMP_POINTER
};

/// Opens libseccomp.so.2, once per process; later calls return the same. Thread-safe.
Result<const LibseccompApi*> open_libseccomp();

// Filters of the program that ask a tracer (SECCOMP_RET_TRACE).
//
// If several filters answer, the kernel takes one: "notify a listener", which is ours, comes before "ask the tracer".
// So the tracer of such a filter is never asked, and a sandbox that relies on it holds nothing. No answer of ours makes
// the kernel ask: "go on" makes the call. So the supervisor looks at each filter before the kernel installs it, and the
// run says what became of it.

/// True if the call installs a filter that may ask a tracer: also one that may not be read, of a process that is not
/// dumpable. False where Yama denies reading it, and where there is no filter in memory, because the kernel refuses it
/// then. The thread waits in the call. Async-signal-safe; reads the thread's memory.
bool may_install_tracer_filter(const Notification& call);

/// Fails if this process has a tracer, and a filter that its tracer does not have and which may ask the tracer: proot
/// and `strace --seccomp-bpf` start a program so. A sandbox between the two is refused, too: nothing tells its filter
/// from theirs. Fails if the number of filters is unknown (Linux before 5.9). A filter that both have, for example a
/// container's, asks no one: it is older than the tracing. A tracer outside the PID namespace is not seen.
Result<void> check_tracer_filters();

}  // namespace syscost::seccomp
