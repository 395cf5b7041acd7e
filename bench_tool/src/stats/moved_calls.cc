// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "stats/verdict.h"

namespace syscost::bench::stats {

void find_moved_calls(std::vector<Comparison>& rows) {
  struct Total {
    double net = 0;  // NEW less OLD
    bool grew = false;
    bool shrank = false;
    std::vector<Delta*> deltas;
  };
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  // program, syscall, errno
  std::map<Key, Total> totals;
  for (Comparison& row : rows) {
    // A window inside a test has rows of its own, and is already in the test's counts. Counts per pass cannot be added.
    if (!row.is_paired() || !row.old_window->is_part_of_program() || row.has_fault) continue;
    if (row.old_window->is_per_iteration) continue;
    for (Delta& delta : row.deltas) {
      if (delta.is_volatile) continue;
      Total& total = totals[{row.new_window->program, delta.syscall, delta.errno_name}];
      const double more = delta.new_count.median - delta.old_count.median;
      total.net += more;
      total.grew = total.grew || more > 0;
      total.shrank = total.shrank || more < 0;
      total.deltas.push_back(&delta);
    }
  }
  for (auto& [key, total] : totals) {
    if (total.net != 0 || !total.grew || !total.shrank) continue;
    for (Delta* delta : total.deltas) {
      if (delta->change == Change::grew || delta->change == Change::shrank) delta->change = Change::moved;
    }
  }
  for (Comparison& row : rows) {
    const bool has_moved = std::any_of(row.deltas.begin(), row.deltas.end(),
                                       [](const Delta& delta) { return delta.change == Change::moved; });
    if (has_moved) row.verdict = verdict_of(row.deltas, row.verdict == Verdict::inconclusive);
  }
}

}  // namespace syscost::bench::stats
