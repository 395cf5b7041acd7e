// SPDX-License-Identifier: MIT
//
// Budget: a limit on one measure of some tests, as a file of the project states it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "budgets/measures.h"
#include "model/choice.h"

namespace syscost::bench::budgets {

/// How much more than in the baseline is allowed.
struct Growth {
  double share = 0;  ///< A share of the baseline's value.
  double value = 0;  ///< In the measure's unit.
  std::string text;  ///< As it was written.
};

enum class Per { test, program, run };

struct Budget {
  std::string where;  ///< `syscost.toml:3`, `--gate-p99`.
  model::TestPatterns tests;
  const Measure* measure = nullptr;
  std::string of;  ///< The selector as written; empty where the measure has none.
  model::SyscallChoice choice;
  Per per = Per::test;
  std::optional<double> max;
  std::optional<Growth> max_growth;
  bool fails = true;
  std::string reason;

  /// `name` without the program.
  bool matches(std::string_view kind, std::string_view name, std::string_view of_program) const;
  /// `calls of write`.
  std::string title() const;
};

}  // namespace syscost::bench::budgets
