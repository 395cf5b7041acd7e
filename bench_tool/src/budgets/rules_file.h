// SPDX-License-Identifier: MIT
//
// RulesFile: what a project's file says about the counts of its tests: limits, counts that may vary, and changes that
// are intended.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "budgets/budget.h"
#include "csv/problems.h"
#include "model/test_patterns.h"
#include "stats/accept.h"

namespace syscost::bench::budgets {

/// An entry of `volatile` or `tolerate`.
struct CountRule {
  std::size_t line = 0;
  std::string text;                          ///< As --volatile or --tolerate takes it.
  std::optional<model::TestPatterns> tests;  ///< None: of every test.
};

struct RulesFile {
  std::vector<Budget> budgets;
  std::vector<CountRule> volatiles;
  std::vector<CountRule> tolerances;
  std::vector<stats::Accept> accepts;
  bool gates_waits = false;
};

/// Reads `text` of the file `name`; every fault is noted in `problems`.
RulesFile parse_rules(const std::string& name, std::string_view text, csv::Problems& problems);

/// Reads the file.
RulesFile read_rules(const std::string& path, csv::Problems& problems);

}  // namespace syscost::bench::budgets
