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
  bool is_time = false;  ///< The values are ns.
  struct Line {
    std::string name;                               ///< `bytes = 64`: the second size; empty if there is one size.
    std::vector<std::pair<double, double>> points;  ///< The first size and the value, by size.
  };
  std::vector<Line> lines;
  std::string reason;  ///< Why there are none.
};

struct LawFamily {
  std::string name;
  std::vector<LawPlot> plots;
};

std::string laws_section(const std::vector<LawFamily>& families);

}  // namespace syscost::bench::report
