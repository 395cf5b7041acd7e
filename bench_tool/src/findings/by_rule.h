// SPDX-License-Identifier: MIT
//
// Findings in groups, as people read them: by rule, and those of one line together.
#pragma once

#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "findings/finding.h"
#include "findings/rule.h"

namespace syscost::bench::findings {

/// The findings of a rule that have one line: those of tests that use the same fixture.
struct AlikeFindings {
  const Finding* worst = nullptr;
  std::set<std::string_view> windows;  ///< The names of their windows, that of the worst included.
  double cost_ns = 0;                  ///< Of all of them.
};

struct RuleFindings {
  const Rule* rule = nullptr;
  double cost_ns = 0;  ///< Of all of them.
  std::vector<AlikeFindings> parts = {};
};

/// The most expensive rule first. `found` begins with its most expensive finding. The result points into `found`, which
/// must live longer.
std::vector<RuleFindings> by_rule(const std::vector<Finding>& found);

/// Keeps the `most` parts that cost most, of all rules; 0: all. Returns how many are gone.
std::size_t keep_dearest(std::vector<RuleFindings>& rules, std::size_t most);

}  // namespace syscost::bench::findings
