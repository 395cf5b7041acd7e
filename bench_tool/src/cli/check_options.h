// SPDX-License-Identifier: MIT
//
// CheckOptions: the options of the commands that use a committed baseline.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace syscost::bench::cli {

inline constexpr const char* kBaselineFile = "syscost.baseline";
inline constexpr const char* kBudgetsFile = "syscost.toml";

struct CheckOptions {
  std::string output = kBaselineFile;  ///< baseline update: where to write it.
  bool has_times = false;              ///< baseline update: times and percentiles too, for budgets of their growth.
  bool allows_failed = false;          ///< Writing a baseline: a test that failed is written, without counts.
  bool allows_lost = false;            ///< The same of a test that was not counted completely.
  std::string baseline;                ///< check: empty = kBaselineFile where there is one.
  std::string budgets;                 ///< check: empty = kBudgetsFile where there is one.
  bool is_update = false;              ///< check: write what differs into the baseline.
  std::vector<std::string> accepted;   ///< check: the same of the tests that match one of these patterns alone.
  std::string gate_counts;             ///< check: `10%`; empty = counts are exact.
  std::string gate_p99;                ///< check: `20%`; empty = latencies are not gated.

  bool writes() const { return is_update || !accepted.empty(); }
};

}  // namespace syscost::bench::cli
