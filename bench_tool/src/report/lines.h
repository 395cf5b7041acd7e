// SPDX-License-Identifier: MIT
//
// The lines of the program that make the calls, as a table and as a flame graph.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stats/site_totals.h"

namespace syscost::bench::report {

/// A line for each site, in the order of `sites`, at most `most`; empty if there are none.
std::string lines_table(const std::vector<stats::SiteTotal>& sites, std::size_t most);

/// The lines of all tests, and a flame graph of them.
std::string lines_section(const std::vector<stats::SiteTotal>& sites);

}  // namespace syscost::bench::report
