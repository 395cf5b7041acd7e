// SPDX-License-Identifier: MIT
//
// Budget: a limit on one measure of some tests, as a file of the project states it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "budgets/measures.h"
#include "csv/problems.h"
#include "model/syscall_choice.h"

namespace syscost::bench::budgets {

/// How much more than in the baseline is allowed.
struct Growth {
  double share = 0;  ///< Of the baseline's value.
  double value = 0;  ///< In the measure's unit.
  std::string text;  ///< As it was written.
};

enum class Per { test, program, run };

struct Budget {
  std::string where;               ///< `syscost.toml:3`, `--gate-p99`.
  std::vector<std::string> tests;  ///< Patterns with * and ?; one that begins with ! takes out what it matches.
  std::string program = "*";       ///< A pattern.
  const Measure* measure = nullptr;
  std::string of;  ///< The selector as written; empty where the measure has none.
  model::SyscallChoice choice;
  Per per = Per::test;
  std::optional<double> max;
  std::optional<Growth> max_growth;
  bool fails = true;
  std::string reason;

  /// `name` without the program. Windows that are no test, loop or benchmark match a pattern that names their kind.
  bool matches(std::string_view kind, std::string_view name, std::string_view of_program) const;
  /// `calls of write`.
  std::string title() const;
};

/// The contents of the file.
struct BudgetFile {
  std::vector<Budget> budgets;
  std::vector<std::string> volatiles;   ///< As --volatile takes them.
  std::vector<std::string> tolerances;  ///< As --tolerate takes them.
};

/// Reads `text` of the file `name`; every fault is noted in `problems`.
BudgetFile parse_budgets(const std::string& name, std::string_view text, csv::Problems& problems);

/// Reads the file.
BudgetFile read_budgets(const std::string& path, csv::Problems& problems);

}  // namespace syscost::bench::budgets
