// SPDX-License-Identifier: MIT
//
// FilterProgram: which syscalls stop and tell the supervisor, as the program that the kernel runs at each entry.
//
// Everything that --syscost_filter selects, with these exceptions and additions:
//
//   rt_sigreturn, sigreturn   never: a signal that arrived in the microseconds before the supervisor has taken note
//                             would make the kernel answer EINTR, and a return from a handler that returns crashes
//   gettid, futex             not when the sixth argument, which both ignore, is our cookie: our own
//   restart_syscall           whenever a call it may resume is selected, and then those four all: it is counted as the
//                             call that the thread made last, so that must be known
//   other ABIs, new numbers   always: the supervisor drops what is not selected. They are rare
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

/// The kernel's sentence for "go on with what a signal stopped".
bool is_restart_syscall(SyscallId id);

/// `filter` null = everything. `cookie` is not 0. Makes syscalls: between windows.
Result<std::vector<sock_filter>> make_filter_program(const Filter* filter, std::uint64_t cookie);

}  // namespace syscost::seccomp
