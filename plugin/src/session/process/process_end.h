// SPDX-License-Identifier: MIT
//
// Calls functions when the process ends by itself: when main() returns, or by exit() or quick_exit().
#pragma once

namespace syscost::session {

/// Calls `finish` at the end. It returns true if the run is whole. If it returns false, a process that would end with
/// exit code 0 ends with 1.
void at_process_end(bool (*finish)());

}  // namespace syscost::session
