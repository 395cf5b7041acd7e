// SPDX-License-Identifier: MIT
//
// Where a handler finds that it interrupted the thread, if that was in the stub.
//
// A call that has just come back is over before the handler runs, as without us: it is counted, and the handler finds
// the program behind its call. What else it interrupts goes on in the stub when it returns; but not for pthread_cancel,
// whose handler looks at where it interrupted the thread.
//
// From 2.41 on glibc cancels a thread at once only if the interrupted instruction is one of its own, up to the
// `syscall` that its cancellable calls share. A call that we make in its place is interrupted in the stub. So the
// handler is shown the call site, with the registers that the call began with, as long as the call has not been made or
// will be made again. A handler that returns makes the call anew from there.
#pragma once

#include "signal_safe/frames.h"

namespace syscost::signal_safe {

inline constexpr int kCancelSignal = 32;  // SIGCANCEL of glibc

/// Ends the call that the code interrupted by `frame` made, if it is right behind that.
void finish_call(const Guard& guard, SignalFrame& frame);

/// Takes the code that `frame` interrupted back to the call site, if that is in the stub, or on the way to it, before
/// the call is made.
void show_call_site(SignalFrame& frame);

}  // namespace syscost::signal_safe
