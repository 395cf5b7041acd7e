// SPDX-License-Identifier: MIT
//
// bench baseline update: writes the counts of tests into a file to commit.
#pragma once

#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/baseline.h"
#include "model/dataset.h"
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

/// Decides for each window that is written into a baseline, whether it has counts.
///
/// One test that failed, or lost events, must not keep a whole project from having a baseline. But it must not pass
/// silently either: an option takes it, and is named when it is missing.
class WithoutCounts {
 public:
  enum class Answer { has_counts, without_counts, refused };

  /// Notes what is refused in `problems`, as faults of `source`. `beside`: the baseline that has other tests already.
  WithoutCounts(const cli::CheckOptions& options, std::string source, csv::Problems& problems,
                const model::Baseline* beside = nullptr)
      : options_(options), source_(std::move(source)), problems_(problems), beside_(beside) {}

  Answer decide(const stats::WindowSummary& window);

  /// `; --allow-lost writes such tests without counts`; "" if no option helps.
  std::string advice() const;
  /// A line that names those that are written without counts; "" if there are none.
  std::string text() const;

 private:
  const cli::CheckOptions& options_;
  std::string source_;
  csv::Problems& problems_;
  const model::Baseline* beside_;
  std::set<std::string_view> missing_options_;
  bool has_other_filter_ = false;  ///< Than `beside_`.
  bool has_no_option_ = false;     ///< For one of the refused windows.
  std::vector<std::string> names_;
};

}  // namespace syscost::bench::commands
