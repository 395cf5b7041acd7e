// SPDX-License-Identifier: MIT
//
// Two kinds of calls that need care, which special.cc finds and leaves to this file: those about signals, and those
// that install seccomp filters.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/common/call.h"

namespace syscost::signal_safe {

// Masks, actions and signal stacks. SIGSYS must get through, with room for a frame of ours on top of the program's; the
// program reads back the values that it set.

/// Before a call that has to do with the thread's masks or its signal stack, and after it; any other is left as it is.
void prepare_signals(const Guard& guard, Call& call);
void finish_signals(const Guard& guard, Call& call);

/// A handler of ours that ends a call asks this before finish_signals(). The return of the handler sets the kernel's
/// mask, so finish_signals() need not put back the mask that the call changed. False where finish_signals() may wait: a
/// handler must not.
bool leave_mask_to_frame(Call& call);

void prepare_sigaction(Call& call);
void finish_sigaction(Call& call);

// Filters. One may kill the process for a call that only we make.

/// True for a call of seccomp or prctl that may install a filter.
bool installs_filter(const Call& call);

/// True if calls can be trapped once the kernel has done `call`, which installs_filter(): the filter allows
/// rt_sigreturn, and does not kill for rt_sigprocmask, by which the stub sees whether memory can be read. With
/// `needs_masks` it must allow that, too. Runs the filter, a program of classic BPF, as the kernel does. True for a
/// call that the kernel will refuse.
bool allows_traps(const Call& call, bool needs_masks);

}  // namespace syscost::signal_safe
