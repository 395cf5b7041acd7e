// SPDX-License-Identifier: MIT
#include "commands/without_counts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "csv/printable.h"
#include "stats/baseline_windows.h"

namespace syscost::bench::commands {

WithoutCounts::Answer WithoutCounts::decide(const stats::WindowSummary& window) {
  const stats::BaselineFault fault = stats::fault_of(window);
  if (fault.text.empty()) return Answer::has_counts;
  const bool is_allowed = (fault.allowed_by == stats::kAllowFailed && options_.allows_failed) ||
                          (fault.allowed_by == stats::kAllowLost && options_.allows_lost);
  if (is_allowed) {
    names_.push_back(window.name);
    return Answer::without_counts;
  }
  problems_.add(source_, 0, fmt::format("{} cannot be a baseline: {}", window.name, fault.text));
  if (fault.allowed_by.empty()) {
    has_no_option_ = true;
  } else {
    missing_options_.insert(fault.allowed_by);
  }
  return Answer::refused;
}

std::string WithoutCounts::advice() const {
  if (missing_options_.empty() || has_no_option_) return {};
  return fmt::format("; {} writes such tests without counts, and check does not judge them",
                     fmt::join(missing_options_, " "));
}

std::string WithoutCounts::text() const {
  constexpr std::size_t kMostNamed = 5;
  if (names_.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < std::min(names_.size(), kMostNamed); ++i) names += (i == 0 ? "" : ", ") + names_[i];
  if (names_.size() > kMostNamed) names += ", ...";
  const bool is_one = names_.size() == 1;
  return fmt::format("{} window{} without counts, which check does not judge: {}\n", names_.size(), is_one ? "" : "s",
                     csv::printable(names));
}

}  // namespace syscost::bench::commands
