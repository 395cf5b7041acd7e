// SPDX-License-Identifier: MIT
//
// Budget: a limit on one measure of some tests, as a file of the project states it; and which budgets a run exceeds.
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
