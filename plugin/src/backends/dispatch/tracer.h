// SPDX-License-Identifier: MIT
//
// Finds the process that traces this one: a debugger stops at every SIGSYS; strace only gets slower.
#pragma once

namespace syscost::dispatch {

/// Returns the process that traces this one; 0 = none.
int tracer_pid();

}  // namespace syscost::dispatch
