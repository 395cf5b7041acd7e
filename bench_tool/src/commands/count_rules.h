// SPDX-License-Identifier: MIT
//
// Count rules of a file: which counts may vary, written down once for a project instead of on each command line.
//
// It is the file from which `bench check` reads its budgets, so that the same counts may vary in compare and ab.
#pragma once

#include <string>
#include <vector>

#include "budgets/budget.h"
#include "csv/problems.h"
#include "stats/count_policy.h"

namespace syscost::bench::commands {

struct RulesFile {
  std::vector<budgets::Budget> budgets;
  bool has_rules = false;
  std::string line;  ///< `rules of syscost.toml: tolerate read=5%`; "" if there are none and the user named no file.
};

/// Reads the file `asked`, or syscost.toml of the current folder if there is one. Adds its rules before those of
/// `policy`, because the last of several tolerances applies.
RulesFile add_rules_of_file(const std::string& asked, stats::CountPolicy& policy, csv::Problems& problems);

}  // namespace syscost::bench::commands
