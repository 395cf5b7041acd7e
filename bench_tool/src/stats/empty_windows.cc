// SPDX-License-Identifier: MIT
#include "stats/empty_windows.h"

#include <algorithm>
#include <string>

namespace syscost::bench::stats {

const WindowSummary* without_calls(const WindowSummary& other, const std::vector<WindowSummary>& side,
                                   std::deque<WindowSummary>& made) {
  const std::string suite = other.kind == "suite" ? std::string(other.test) + "." : "";
  const bool has_tests = std::any_of(side.begin(), side.end(), [&](const WindowSummary& one) {
    return one.kind == "test" && one.is_ours() && one.program == other.program && one.filters == other.filters &&
           one.test.starts_with(suite);
  });
  if (!other.is_set_up() || !other.is_ours() || !has_tests) return nullptr;
  const Spread none{1, 0, 0, 0};
  WindowSummary empty;
  empty.name = other.name;
  empty.program = other.program;
  empty.test = other.test;
  empty.kind = other.kind;
  empty.origin = other.origin;
  empty.filters = other.filters;
  empty.n = 1;
  empty.outcomes["passed"] = 1;
  empty.calls = empty.entries = empty.errors = empty.work_calls = empty.work_errors = none;
  empty.spread_calls = empty.spread_entries = none;
  empty.late = empty.lost = 0;
  return &made.emplace_back(std::move(empty));
}

}  // namespace syscost::bench::stats
