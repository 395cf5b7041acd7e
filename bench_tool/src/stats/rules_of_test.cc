// SPDX-License-Identifier: MIT
#include "stats/rules_of_test.h"

#include <fmt/format.h>

#include <vector>

namespace syscost::bench::stats {

model::PatternName pattern_name(const WindowSummary& window) {
  std::string_view name = window.name;
  // It is a part of the name where several programs have the test.
  const std::string of_program = fmt::format(" ({})", window.program);
  if (name.ends_with(of_program)) name.remove_suffix(of_program.size());
  return {window.kind, name, window.program};
}

CountPolicy rules_of(const CountPolicy& policy, const WindowSummary* old_window, const WindowSummary* new_window) {
  std::vector<model::PatternName> names;
  for (const WindowSummary* window : {old_window, new_window}) {
    if (window != nullptr) names.push_back(pattern_name(*window));
  }
  return policy.of(names);
}

}  // namespace syscost::bench::stats
