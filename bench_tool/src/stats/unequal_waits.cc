// SPDX-License-Identifier: MIT
#include "stats/unequal_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/lists.h"
#include "stats/races.h"

namespace syscost::bench::stats {
namespace {

// docs/statistics.md says where these come from.
constexpr double kAlwaysPossible = 20;  // so many calls more or fewer are always possible
constexpr double kCallsOfAWait = 5;     // calls that go with one wait more or less
constexpr double kMostGrowth = 2;       // and a count may double

/// A syscall, and how it failed ("": its calls).
using Count = std::pair<std::string_view, std::string_view>;
using Counts = std::set<Count>;

/// All that the tests of one side make.
Counts counts_made(const std::vector<Comparison>& rows, const WindowSummary* Comparison::*side) {
  Counts made;
  for (const Comparison& row : rows) {
    if (row.*side == nullptr) continue;
    for (const SyscallSummary& one : (row.*side)->syscalls) {
      if (one.count() && one.count()->max > 0) made.emplace(one.name, "");
      if (!one.errnos) continue;
      for (const auto& [name, calls] : *one.errnos) made.emplace(one.name, name);
    }
  }
  return made;
}

/// Says that the other end was not there yet, or not any more.
bool is_about_the_other_end(std::string_view errno_name) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "EAGAIN",      "EALREADY", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET",
      "EINPROGRESS", "EINTR",    "ENOTCONN",     "EPIPE",        "ETIMEDOUT"};
  return std::find(kNames.begin(), kNames.end(), errno_name) != kNames.end();
}

/// True if the order of threads may bring a syscall or an errno that the test made on one side only.
bool may_come_and_go(const Comparison& row, const Delta& delta, const Counts& made) {
  if (made.count({delta.syscall, delta.errno_name}) != 0) return true;
  if (!delta.errno_name.empty()) return is_about_the_other_end(delta.errno_name);
  return model::has_class(classes_of(row, delta), "network");
}

/// True if the change is no larger than what other waits explain.
bool is_in_proportion(const Delta& delta, double waits_apart) {
  const bool has_grown = delta.new_count.median > delta.old_count.median;
  const Spread& less = has_grown ? delta.old_count : delta.new_count;
  const Spread& more = has_grown ? delta.new_count : delta.old_count;
  return more.max <= kMostGrowth * less.min ||
         more.max - less.min <= std::max(kAlwaysPossible, kCallsOfAWait * waits_apart);
}

bool is_within_tolerance(const CountPolicy& policy, const Comparison& row, const Delta& delta) {
  const Tolerance tolerance = policy.tolerance_of(delta.syscall, classes_of(row, delta));
  const double apart = std::abs(delta.new_count.median - delta.old_count.median);
  return apart <= std::max(tolerance.abs, tolerance.rel * delta.old_count.median);
}

bool is_strict(const CountPolicy& policy, const Comparison& row, const Delta& delta) {
  return policy.tolerance_of(delta.syscall, classes_of(row, delta)).is_strict();
}

/// Makes near each change that `is_chance`; true if that changed the verdict of the row.
template <typename IsChance>
bool make_near(const CountPolicy& policy, Comparison& row, IsChance is_chance) {
  bool has_calmed = false;
  for (Delta& delta : row.deltas) {
    if (delta.is_volatile || (delta.change != Change::grew && delta.change != Change::shrank)) continue;
    if (is_strict(policy, row, delta) || !is_chance(delta)) continue;
    delta.change = Change::near;
    has_calmed = true;
  }
  if (!has_calmed) return false;
  const Verdict before = row.verdict;
  row.verdict = verdict_of(row.deltas, row.verdict == Verdict::inconclusive);
  return row.verdict != before && row.verdict == Verdict::near;
}

/// `futex 4 -> 9`: the wait that changed most.
std::string largest_shift(const Comparison& row) {
  const Delta* largest = nullptr;
  const auto size = [](const Delta& delta) { return std::abs(delta.new_count.median - delta.old_count.median); };
  for (const Delta& delta : row.deltas) {
    if (is_shift_of_waits(row, delta) && (largest == nullptr || size(delta) > size(*largest))) largest = &delta;
  }
  if (largest == nullptr) return "";
  return fmt::format("{}{}{} {:.0f} -> {:.0f}", largest->syscall, largest->errno_name.empty() ? "" : " ",
                     largest->errno_name, largest->old_count.median, largest->new_count.median);
}

}  // namespace

std::vector<std::size_t> allow_for_unequal_waits(const CountPolicy& policy, std::vector<Comparison>& rows) {
  const Counts made_before = counts_made(rows, &Comparison::old_window);
  const Counts made_now = counts_made(rows, &Comparison::new_window);
  std::map<std::string_view, Counts> changed;  // by program: what changed in tests that waited otherwise
  std::vector<std::size_t> calmed;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Comparison& row = rows[i];
    if (!is_single_run_of_waits(row) || !has_waited_otherwise(row)) continue;
    Counts& of_program = changed[row.new_window->program];
    for (const Delta& delta : row.deltas) {
      if (delta.is_gated()) of_program.emplace(delta.syscall, delta.errno_name);
    }
    const double waits_apart = sum_of_shifts(row);
    const bool is_calm = make_near(policy, row, [&](const Delta& delta) {
      const Counts& made = delta.change == Change::grew ? made_before : made_now;
      return may_come_and_go(row, delta, made) && is_in_proportion(delta, waits_apart);
    });
    if (!is_calm) continue;
    calmed.push_back(i);
    row.reason = fmt::format("may be chance: it waited otherwise ({})", largest_shift(row));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Comparison& row = rows[i];
    if (!is_single_run_of_waits(row) || has_waited_otherwise(row)) continue;
    const auto of_program = changed.find(row.new_window->program);
    if (of_program == changed.end()) continue;
    const bool is_calm = make_near(policy, row, [&](const Delta& delta) {
      return of_program->second.count({delta.syscall, delta.errno_name}) != 0 &&
             is_within_tolerance(policy, row, delta);
    });
    if (!is_calm) continue;
    calmed.push_back(i);
    row.reason = "may be chance: these calls varied in tests that waited otherwise";
  }
  return calmed;
}

std::string warning_of_unequal_waits(std::size_t tests, std::string_view remedy) {
  return fmt::format(
      "{} for other threads or processes, more or less often in NEW than in OLD: their counts may differ by chance; "
      "{}",
      tests == 1 ? "1 test waits" : fmt::format("{} tests wait", tests), remedy);
}

}  // namespace syscost::bench::stats
