// SPDX-License-Identifier: MIT
//
// How counts and times grow with the sizes of a family of tests: a small plot for each, with its law.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace syscost::bench::report {

struct LawPlot {
  std::string title;  ///< `write`, `wall`
  std::string law;    ///< `ceil(n/4096)`, `no law: ...`
  bool has_law = false;
  bool is_time = false;                           ///< The values are ns.
  std::vector<std::pair<double, double>> points;  ///< Size and value, by size.
};

struct LawFamily {
  std::string name;
  std::vector<LawPlot> plots;
};

std::string laws_section(const std::vector<LawFamily>& families);

}  // namespace syscost::bench::report
