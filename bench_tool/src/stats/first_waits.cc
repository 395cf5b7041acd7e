// SPDX-License-Identifier: MIT
#include "stats/first_waits.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "stats/races.h"

namespace syscost::bench::stats {
namespace {

constexpr double kMostCalls = 2;   // of one syscall: two files, one for each question
constexpr double kMostBefore = 2;  // a test that opened more files is exact
constexpr std::string_view kOpen = "openat";
constexpr std::array<std::string_view, 3> kReadsFile{kOpen, "read", "close"};

bool is_part_of_reading(const Delta& delta) {
  return delta.is_gated() && (delta.errno_name.empty() || delta.errno_name == "ENOENT") &&
         std::find(kReadsFile.begin(), kReadsFile.end(), delta.syscall) != kReadsFile.end();
}

bool are_few_more(const Spread& before, const Spread& after) {
  return before.max <= kMostBefore && after.min > before.max && after.max - before.min <= kMostCalls;
}

bool grew_by_few(const Delta& delta) {
  return is_part_of_reading(delta) && are_few_more(delta.old_count, delta.new_count);
}

bool opens(const Delta& delta) {
  return delta.syscall == kOpen && delta.errno_name.empty() && is_part_of_reading(delta);
}

struct Turns {
  int more = 0;   // tests that open a file more
  int fewer = 0;  // tests that open a file less
};

void count_turns(const Comparison& row, Turns& turns) {
  for (const Delta& delta : row.deltas) {
    if (!opens(delta)) continue;
    if (are_few_more(delta.old_count, delta.new_count)) ++turns.more;
    if (are_few_more(delta.new_count, delta.old_count)) ++turns.fewer;
  }
}

void calm(const CountPolicy& policy, Comparison& row) {
  const bool is_first_file = std::any_of(row.deltas.begin(), row.deltas.end(),
                                         [](const Delta& delta) { return opens(delta) && grew_by_few(delta); });
  if (!is_first_file || !waits_differ(row)) return;
  bool has_calmed = false;
  for (Delta& delta : row.deltas) {
    if (delta.change != Change::grew || !grew_by_few(delta)) continue;
    if (policy.tolerance_of(delta.syscall, classes_of(row, delta)).is_strict()) continue;
    delta.change = Change::near;
    has_calmed = true;
  }
  if (!has_calmed) return;
  row.verdict = verdict_of(row.deltas, row.verdict == Verdict::inconclusive);
  if (row.verdict == Verdict::near) row.reason = "threads that first wait for each other may read a file, once";
}

}  // namespace

void allow_for_first_waits(const CountPolicy& policy, std::vector<Comparison>& rows) {
  std::map<std::string_view, Turns> programs;
  for (const Comparison& row : rows) {
    if (is_open_to_chance(row)) count_turns(row, programs[row.new_window->program]);
  }
  for (Comparison& row : rows) {
    if (!is_open_to_chance(row)) continue;
    const Turns& turns = programs[row.new_window->program];
    if (turns.more <= turns.fewer + 1) calm(policy, row);
  }
}

}  // namespace syscost::bench::stats
