// SPDX-License-Identifier: MIT
//
// Count rules of a file: which counts may vary, written down once for a project instead of on each command line.
//
// It is the file that `bench check` reads its budgets from, so that compare, confirm and ab let vary what check does.
#pragma once

#include <string>

#include "budgets/budget.h"
#include "csv/problems.h"
#include "stats/count_policy.h"

namespace syscost::bench::commands {

/// Adds the rules of `file`, called `name`, before those of `policy`: of several tolerances the last decides.
void add_rules(const budgets::BudgetFile& file, const std::string& name, stats::CountPolicy& policy,
               csv::Problems& problems);

/// Reads the rules of the file `asked`, or of syscost.toml in the current folder if there is one, and adds them.
/// Returns a line that says which; "" for none.
std::string add_rules_of_file(const std::string& asked, stats::CountPolicy& policy, csv::Problems& problems);

}  // namespace syscost::bench::commands
