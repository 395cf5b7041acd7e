// SPDX-License-Identifier: MIT
//
// Accept lines: changes of counts that a commit message says are intended.
//
//     Syscost-Accept: Log.Reads: +1 openat -- each file is opened twice now
//     Syscost-Accept: Log.* -- the log is in memory now
//     Syscost-Accept: "Scenario: a log": fewer syncs -- a pattern with a colon and a blank stands in quotes
//
// A line that begins with a blank continues the one before, as in git's trailers. All other text is ignored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "csv/problems.h"
#include "stats/accept.h"

namespace syscost::bench::commands {

/// Reads them from `text`, the contents of `file`. Each line that is wrong is noted in `problems`, with how to write
/// it.
std::vector<stats::Accept> parse_accept_lines(const std::string& file, std::string_view text, csv::Problems& problems);

/// The same of a file, or of standard input if `file` is `-`.
std::vector<stats::Accept> read_accept_lines(const std::string& file, csv::Problems& problems);

/// The line that accepts what is red in the counts of `row`: `Syscost-Accept: Log.Reads: +1 openat -- REASON`.
std::string accept_line(const stats::Comparison& row);

}  // namespace syscost::bench::commands
