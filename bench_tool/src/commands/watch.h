// SPDX-License-Identifier: MIT
//
// bench watch: the intervals of a command (`bench run --interval`): its newest one as a table, and what was unusual.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "model/dataset.h"
#include "render/paint.h"
#include "render/screen.h"
#include "stats/watched_series.h"

namespace syscost::bench::commands {

/// Prints the newest interval of the RUN, and everything that was unusual in it.
int watch(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// The intervals of the newest run in `file`; empty before the first one.
struct WatchedRun {
  model::Dataset data;
  std::string command;
  std::vector<stats::WatchedInterval> intervals;
};
WatchedRun load_watched(const cli::Options& options, const std::string& file, csv::Problems& problems);
/// The same of `text`, rows of the file below its header.
WatchedRun load_watched_text(const cli::Options& options, const std::string& file, std::string_view text,
                             csv::Problems& problems);

/// The newest interval: a line of totals, and a table of its syscalls that fits the screen.
std::string newest_interval_text(const WatchedRun& run, const render::Screen& screen, const render::Paint& paint);
/// One line for a log: the totals, and what is unusual.
std::string interval_line(const WatchedRun& run, std::size_t at);
/// Everything that was unusual, at most `most` of it; "" where nothing was.
std::string unusual_text(const WatchedRun& run, std::size_t most, const render::Paint& paint);

}  // namespace syscost::bench::commands
