// SPDX-License-Identifier: MIT
//
// The calls about signals: masks, actions and signal stacks. SIGSYS must get through, with room for a frame of ours on
// top of the program's; what the program reads back is what it set.
#pragma once

#include "signal_safe/call.h"

namespace syscost::signal_safe {

/// Before a call that has to do with the thread's masks or its signal stack, and after it; any other is left as it is.
void prepare_signals(const Guard& guard, Call& call);
void finish_signals(const Guard& guard, Call& call);

/// To be asked before finish_signals() in a handler of ours, whose return sets the kernel's mask: what the call has
/// changed there is left to that. False for a call that may wait once more, which no handler may.
bool leave_mask_to_frame(Call& call);

void prepare_sigaction(Call& call);
void finish_sigaction(Call& call);

}  // namespace syscost::signal_safe
