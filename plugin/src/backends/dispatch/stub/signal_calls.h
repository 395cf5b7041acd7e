// SPDX-License-Identifier: MIT
//
// The calls about signals: masks, actions and signal stacks. SIGSYS must get through, with room for a frame of ours on
// top of the program's; what the program reads back is what it set.
#pragma once

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

/// Before a call that has to do with the thread's masks or its signal stack, and after it; any other is left as it is.
void prepare_signals(const Guard& guard, Call& call);
void finish_signals(const Guard& guard, Call& call);

/// A handler of ours that ends a call asks this before finish_signals(). The return of the handler sets the kernel's
/// mask, so finish_signals() need not put back what the call changed there. False where finish_signals() may wait: a
/// handler must not.
bool leave_mask_to_frame(Call& call);

void prepare_sigaction(Call& call);
void finish_sigaction(Call& call);

}  // namespace syscost::signal_safe
