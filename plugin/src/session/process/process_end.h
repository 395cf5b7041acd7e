// SPDX-License-Identifier: MIT
//
// What is left to do when the process ends, however it ends itself: main() returns, exit(), quick_exit().
#pragma once

namespace syscost::session {

/// Calls `finish` then. It says whether the run is whole; a process that ends with 0 although it is not ends with 1.
void at_process_end(bool (*finish)());

}  // namespace syscost::session
