// SPDX-License-Identifier: MIT
//
// Which tests of a baseline have no counts.
//
// One test that failed, or lost events, must not keep a whole project from having a baseline. But it must not pass
// silently either: an option takes it, and is named when it is missing.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// Decides for each window that is written into a baseline.
class WithoutCounts {
 public:
  enum class Answer { has_counts, without_counts, refused };

  /// Notes what is refused in `problems`, as faults of `source`.
  WithoutCounts(const cli::CheckOptions& options, std::string source, csv::Problems& problems)
      : options_(options), source_(std::move(source)), problems_(problems) {}

  Answer decide(const stats::WindowSummary& window);

  /// `; --allow-lost writes such tests without counts`; "" if no option helps.
  std::string advice() const;
  /// A line that names those that are written without counts; "" if there are none.
  std::string text() const;

 private:
  const cli::CheckOptions& options_;
  std::string source_;
  csv::Problems& problems_;
  std::set<std::string_view> missing_options_;
  bool has_no_option_ = false;  ///< For one of the refused windows.
  std::vector<std::string> names_;
};

}  // namespace syscost::bench::commands
