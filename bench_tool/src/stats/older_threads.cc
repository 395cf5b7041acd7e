// SPDX-License-Identifier: MIT
#include "stats/older_threads.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace syscost::bench::stats {
namespace {

/// The tests of a program that were not skipped, each with how often it ran.
std::map<std::string_view, std::size_t> tests_of(std::string_view program, const std::vector<WindowSummary>& windows) {
  std::map<std::string_view, std::size_t> tests;
  for (const WindowSummary& window : windows) {
    if (window.program != program || window.kind != "test" || window.outcomes.contains("skipped")) continue;
    tests[window.test] += window.n;
  }
  return tests;
}

/// The runs of a program; 0 if its older threads made no calls.
std::size_t runs_of(const WindowSummary& window) {
  return window.syscalls.empty() ? 0 : window.n;
}

}  // namespace

void leave_out_unlike_programs(const std::vector<WindowSummary>& old_windows,
                               const std::vector<WindowSummary>& new_windows, const std::set<std::string>& untold,
                               std::vector<Comparison>& rows) {
  for (Comparison& row : rows) {
    if (!row.is_paired()) continue;
    const bool is_of_program = row.old_window->is_of_program();
    const bool is_untold = untold.contains(std::string(row.new_window->program)) &&
                           (is_of_program || row.old_window->has_other_threads.value_or(false));
    if (is_untold) {
      row.reason = "NEW does not tell the calls of older threads, and OLD does";
    } else if (is_of_program) {
      const auto of_old = tests_of(row.old_window->program, old_windows);
      const auto of_new = tests_of(row.new_window->program, new_windows);
      const std::size_t old_runs = runs_of(*row.old_window);
      const std::size_t new_runs = runs_of(*row.new_window);
      const bool are_alike =
          std::equal(of_old.begin(), of_old.end(), of_new.begin(), of_new.end(), [&](const auto& a, const auto& b) {
            return a.first == b.first && (old_runs == 0 || new_runs == 0 || a.second * new_runs == b.second * old_runs);
          });
      if (are_alike) continue;
      row.reason = "other tests ran than in OLD";
    } else {
      continue;
    }
    row.verdict = Verdict::incomparable;
    row.rule = Rule::no_common_count;
    row.deltas.clear();
    row.undecided.clear();
    row.varying = 0;
  }
}

}  // namespace syscost::bench::stats
