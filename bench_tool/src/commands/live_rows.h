// SPDX-License-Identifier: MIT
//
// The newest intervals of a run that goes on. The CSV of a command that runs for days grows large, so each look reads
// only what was appended since the look before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "cli/options.h"
#include "commands/watch.h"

namespace syscost::bench::commands {

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
  /// Of all intervals.
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
