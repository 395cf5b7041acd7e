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

void prepare_sigaction(Call& call);
void finish_sigaction(Call& call);

}  // namespace syscost::signal_safe
