// SPDX-License-Identifier: MIT
#include "findings/by_rule.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace syscost::bench::findings {

std::vector<RuleFindings> by_rule(const std::vector<Finding>& found) {
  std::vector<RuleFindings> rules;
  std::map<std::string_view, std::size_t> places;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> sites;
  for (const Finding& one : found) {
    const auto [place, is_new] = places.try_emplace(one.rule, rules.size());
    if (is_new) rules.push_back({rule_of(one.rule)});
    RuleFindings& all = rules[place->second];
    all.cost_ns += one.cost_ns;
    // Findings are sorted, so the first one of a site is its worst.
    if (!one.site.empty()) {
      const auto [known, is_first] = sites.try_emplace({place->second, one.site}, all.parts.size());
      if (!is_first) {
        all.parts[known->second].windows.insert(one.window);
        continue;
      }
    }
    all.parts.push_back({&one, {one.window}});
  }
  std::stable_sort(rules.begin(), rules.end(),
                   [](const RuleFindings& a, const RuleFindings& b) { return a.cost_ns > b.cost_ns; });
  return rules;
}

}  // namespace syscost::bench::findings
