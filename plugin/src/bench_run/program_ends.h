// SPDX-License-Identifier: MIT
//
// How the test programs below ended, where no row of a test shows it.
//
// A program may crash before its tests begin, in a static object or in main(), and then it has no row. Or it crashes
// after they ended, or main() returns a code of its own: then all its rows are green. Only its parent learns of it, and
// the preloaded part of the parent notes it (agent/exec/child_ends.h).
#pragma once

#include <vector>

#include "bench_run/out_of_reach.h"
#include "bench_run/row_file.h"

namespace syscost::bench_run {

/// Appends rows of these ends to the CSV, and prints a line for each program, unless a summary
/// prints it.
void tell_ends(const std::vector<Notes::End>& ends, const RowFile& rows);

}  // namespace syscost::bench_run
