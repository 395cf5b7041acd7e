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
        all.parts[known->second].cost_ns += one.cost_ns;
        continue;
      }
    }
    all.parts.push_back({&one, {one.window}, one.cost_ns});
  }
  std::stable_sort(rules.begin(), rules.end(),
                   [](const RuleFindings& a, const RuleFindings& b) { return a.cost_ns > b.cost_ns; });
  return rules;
}

std::size_t keep_dearest(std::vector<RuleFindings>& rules, std::size_t most) {
  struct Place {
    double cost_ns = 0;
    std::size_t rule = 0;
    std::size_t part = 0;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    for (std::size_t k = 0; k < rules[i].parts.size(); ++k) places.push_back({rules[i].parts[k].cost_ns, i, k});
  }
  if (most == 0 || places.size() <= most) return 0;
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.cost_ns > b.cost_ns; });
  std::vector<std::vector<bool>> is_kept;
  for (const RuleFindings& rule : rules) is_kept.emplace_back(rule.parts.size());
  for (std::size_t i = 0; i < most; ++i) is_kept[places[i].rule][places[i].part] = true;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::vector<AlikeFindings> kept;
    for (std::size_t k = 0; k < rules[i].parts.size(); ++k) {
      if (is_kept[i][k]) kept.push_back(std::move(rules[i].parts[k]));
    }
    rules[i].parts = std::move(kept);
  }
  std::erase_if(rules, [](const RuleFindings& rule) { return rule.parts.empty(); });
  return places.size() - most;
}

}  // namespace syscost::bench::findings
