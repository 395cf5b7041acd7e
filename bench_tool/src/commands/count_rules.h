// SPDX-License-Identifier: MIT
//
// Count rules of a file: which counts may vary, written down once for a project instead of on each command line.
//
// It is the file that `bench check` reads its budgets from, so that compare, confirm and ab let vary what check does.
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
  std::string line;  ///< `rules of syscost.toml: tolerate read=5%`; "" where there are none and no file was asked for.
};

/// Reads the file `asked`, or syscost.toml of the current folder if there is one. Adds its rules before those of
/// `policy`: of several tolerances the last decides.
RulesFile add_rules_of_file(const std::string& asked, stats::CountPolicy& policy, csv::Problems& problems);

}  // namespace syscost::bench::commands
