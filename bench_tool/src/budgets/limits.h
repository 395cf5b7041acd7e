// SPDX-License-Identifier: MIT
//
// Which budgets a run exceeds, keeps, or cannot be judged by.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "budgets/budget.h"
#include "budgets/measures.h"

namespace syscost::bench::budgets {

/// A window of the run, of the baseline, or of both.
struct BudgetedWindow {
  std::string name;     ///< Without the program.
  std::string display;  ///< With it, where several programs have one of that name.
  std::string program;
  std::string kind;
  std::optional<Subject> now;
  std::optional<Subject> before;
};

/// A limit that was exceeded.
struct Finding {
  std::size_t budget = 0;  ///< Which.
  std::string test;        ///< Or program, or `all tests`.
  std::string of;          ///< The syscall; empty: all that the budget names.
  std::string value;
  std::string limit;

  /// The same limit of the same thing, in another run.
  bool is_same(const Finding& other) const { return budget == other.budget && test == other.test && of == other.of; }
};

struct Judgement {
  std::vector<Finding> exceeded;
  std::size_t kept = 0;  ///< Limits that were not.
  /// A budget that limits nothing is a typing mistake: which, and that no test matches.
  std::vector<std::pair<std::size_t, std::string>> unmatched;
  /// Budgets on something that was not measured, or not in all tests: which, and why.
  std::vector<std::pair<std::size_t, std::string>> unjudged;
};

Judgement judge(const std::vector<Budget>& budgets, const std::vector<BudgetedWindow>& windows);

}  // namespace syscost::bench::budgets
