// SPDX-License-Identifier: MIT
//
// FilterProgram: the program that the kernel runs at each entry of a syscall. It decides which calls stop and notify
// the supervisor.
//
// All calls that --syscost_filter selects do, with these exceptions and additions:
//
//   rt_sigreturn, sigreturn   never: if a signal arrived before the supervisor has received the notification, the
//   kernel
//                             would return EINTR, and a sigreturn that returns crashes the program
//   gettid, futex, close,     not if the sixth argument, which they ignore, is our cookie: the call is our own
//   fstat, wait4
//   restart_syscall           if one of the four calls that it may resume is selected; then all four are, too: it is
//                             counted as the last call of the thread, so that call must be known
//   other ABIs, new numbers   always, because they are rare: the supervisor drops those that are not selected
#pragma once

#include <linux/filter.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/filter.h"
#include "core/syscall_id.h"
#include "os/result.h"

namespace syscost::seccomp {

/// Syscalls that this backend cannot count.
inline constexpr std::array kUncountable = {SyscallId{Abi::x86_64, 15}, SyscallId{Abi::x32, 513},
                                            SyscallId{Abi::i386, 173}, SyscallId{Abi::i386, 119}};

/// True for restart_syscall, by which the kernel continues a call that a signal stopped.
bool is_restart_syscall(SyscallId id);

/// Makes the program. `filter` null = everything. `cookie` is not 0. Makes syscalls: between windows only.
Result<std::vector<sock_filter>> make_filter_program(const Filter* filter, std::uint64_t cookie);

}  // namespace syscost::seccomp
