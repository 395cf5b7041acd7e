// SPDX-License-Identifier: MIT
//
// bench baseline update: writes the counts of tests into a file to commit.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/baseline.h"
#include "model/dataset.h"
#include "model/group.h"
#include "os/file_lock.h"
#include "os/files.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// Returns the exit code: 0 when the file was written, else 2.
int baseline_update(const cli::Options& options, std::ostream& out, std::ostream& err);

/// The parts of a run's environment that may change counts, in the words of the baseline's head.
std::vector<std::pair<std::string, std::string>> surroundings_of(const model::Dataset& data);

/// Adds the classes of the syscalls of `window`.
void add_classes(const stats::WindowSummary& window, model::Baseline& baseline);

/// Held from when a baseline is read until what replaces it is written: another `bench` that does the same waits, so
/// that neither loses what the other has changed.
class BaselineLock {
 public:
  /// How often it tries, a millisecond apart: together a minute.
  static constexpr int kPatience = 60'000;

  explicit BaselineLock(const std::string& path, int patience = kPatience);
  BaselineLock(const BaselineLock&) = delete;
  BaselineLock& operator=(const BaselineLock&) = delete;

  /// Why the file must not be replaced, or "".
  const std::string& fault() const { return fault_; }

 private:
  Descriptor file_;
  std::optional<FileLock> lock_;
  std::string fault_;
};

/// Writes the file, completely or not at all. Replaces a baseline or an empty file, and nothing else. Returns the
/// error, or "".
std::string write_baseline(const std::string& path, model::Baseline baseline);

/// Reads the file, and adds its faults to `problems`.
std::optional<model::Baseline> read_baseline(const std::string& path, csv::Problems& problems);

}  // namespace syscost::bench::commands
