// SPDX-License-Identifier: MIT
//
// bench watch: the intervals of a command (`bench run --interval`): its newest one as a table, and what was unusual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "model/dataset.h"
#include "render/terminal.h"
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

/// The newest intervals of a run that goes on. The CSV of a command that runs for days grows large, so each look reads
/// only what was appended since the look before.
class LiveRows {
 public:
  /// `options`: with the id of the run. Rows that the file at `path` has now belong to other runs.
  LiveRows(const cli::Options& options, std::string path);

  /// Reads what was appended; false if no interval was.
  bool read();
  /// The intervals that the newest ones are compared with, and those of the last read().
  const WatchedRun& newest() const { return run_; }
  /// How many intervals of newest() read() had not seen before.
  std::size_t new_intervals() const { return new_intervals_; }
  /// The number of all intervals.
  std::size_t intervals() const { return dropped_ + run_.intervals.size(); }
  /// Bytes in memory; for tests.
  std::size_t bytes() const;

 private:
  /// Rows that one look found.
  struct Part {
    std::string rows;
    std::size_t intervals = 0;
  };
  std::string appended();
  void drop_old();

  const cli::Options& options_;
  std::string path_;
  std::string id_;  ///< The second cell of each row of the run, as the file has it, and the comma after it.
  std::string header_;
  std::uintmax_t read_to_ = 0;
  std::deque<Part> parts_;
  WatchedRun run_;
  std::size_t new_intervals_ = 0;
  std::size_t dropped_ = 0;
  double dropped_s_ = 0;
};

}  // namespace syscost::bench::commands
