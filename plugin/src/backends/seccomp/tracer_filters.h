// SPDX-License-Identifier: MIT
//
// Filters of the program that ask a tracer (SECCOMP_RET_TRACE).
//
// Of several filters' answers the kernel takes one: "notify a listener", which is ours, comes before "ask the tracer".
// So the tracer of such a filter is never asked, and a sandbox that relies on it holds nothing. No answer of ours makes
// the kernel ask: "go on" makes the call. So the supervisor looks at each filter before the kernel installs it, and the
// run says what became of it.
#pragma once

#include "backends/seccomp/listener.h"

namespace syscost::seccomp {

/// True if the call installs a filter that may ask a tracer. False also for a filter that cannot be read. The thread
/// waits in the call. Async-signal-safe; reads the thread's memory.
bool installs_tracer_filter(const Notification& call);

}  // namespace syscost::seccomp
