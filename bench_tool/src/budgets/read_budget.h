// SPDX-License-Identifier: MIT
//
// From a table of a project's file to budgets.
#pragma once

#include <string>
#include <vector>

#include "budgets/budget.h"
#include "budgets/toml_table.h"

namespace syscost::bench::budgets {

/// The budgets of one `[[budget]]` of `file`: one, or one for each short key. None if there is a fault.
std::vector<Budget> read_budget(const std::string& file, const toml::table& table, csv::Problems& problems);

}  // namespace syscost::bench::budgets
