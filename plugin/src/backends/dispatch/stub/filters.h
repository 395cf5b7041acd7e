// SPDX-License-Identifier: MIT
//
// Seccomp filters that the program installs: one may kill the process for a call that only we make.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

/// True for a call of seccomp or prctl that may install a filter.
bool installs_filter(const Call& call);

/// True if calls can be trapped once the kernel has done `call`, which installs_filter(): the filter allows
/// rt_sigreturn, and does not kill for rt_sigprocmask, by which the stub sees whether memory can be read. With
/// `needs_masks` it must allow that, too. Runs the filter, a program of classic BPF, as the kernel does. True for a call
/// that the kernel will refuse.
bool allows_traps(const Call& call, bool needs_masks);

}  // namespace syscost::signal_safe
