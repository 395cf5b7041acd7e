// SPDX-License-Identifier: MIT
//
// CheckOptions: what the commands around a committed baseline are asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace syscost::bench::cli {

inline constexpr const char* kBaselineFile = "syscost.baseline";
inline constexpr const char* kBudgetsFile = "syscost.toml";

struct CheckOptions {
  std::string output = kBaselineFile;  ///< baseline update: where to write it.
  bool has_times = false;              ///< baseline update: times and percentiles too, for budgets of their growth.
  std::string baseline;                ///< check: empty = kBaselineFile where there is one.
  std::string budgets;                 ///< check: empty = kBudgetsFile where there is one.
  bool is_update = false;              ///< check: write what differs into the baseline.
};

}  // namespace syscost::bench::cli
