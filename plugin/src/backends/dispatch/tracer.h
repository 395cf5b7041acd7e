// SPDX-License-Identifier: MIT
//
// The process that traces this one: a debugger stops at every SIGSYS, strace only gets slower.
#pragma once

namespace syscost::dispatch {

/// The process that traces us; 0 = none.
int tracer_pid();

}  // namespace syscost::dispatch
