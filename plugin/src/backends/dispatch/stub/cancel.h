// SPDX-License-Identifier: MIT
//
// Where a handler finds that it interrupted the thread, if that was in the stub.
//
// A call that has come back from the kernel is over before the handler runs, as without us: it is counted, and the
// handler finds the program after its call. A handler may leave by longjmp: then the rest would never be done. Where
// the thread is in the middle of counting, our handler lets it run on to the end of that, and then enters the
// program's. A trapped call that has not been made yet begins again from its call site. Any other interrupted call, one
// that will start again for example, goes on in the stub when the handler returns. For pthread_cancel it does not: the
// handler of that looks at where it interrupted the thread.
//
// From 2.41 on glibc cancels a thread at once only if the interrupted instruction is one of its own, up to the
// `syscall` that its cancellable calls share. A call that we make in its place is interrupted in the stub. So the
// handler is shown the call site, with the registers that the call began with, as long as the call has not been made or
// will be made again. A handler that returns makes the call anew from there.
#pragma once

#include "backends/dispatch/stub/frames.h"

namespace syscost::signal_safe {

inline constexpr int kCancelSignal = 32;  // SIGCANCEL of glibc

/// Ends the call that the code interrupted by `frame` made, if that has come back from the kernel; takes a trapped one
/// that has never been made back to its call site. `thread` may be null.
void settle_call(const Guard& guard, SignalFrame& frame, const Thread* thread);

/// A handler returns by `frame` in `thread`, which need not be the one that it interrupted: a coroutine may go on in
/// another. A call of a patched site that is still to be made, or starts again, belongs to `thread` from now on.
void adopt_call(SignalFrame& frame, Thread& thread);

/// Takes the code that `frame` interrupted back to the call site, if that is in the stub, or on the way to it, before
/// the call is made.
void show_call_site(SignalFrame& frame);

}  // namespace syscost::signal_safe
