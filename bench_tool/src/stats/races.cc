// SPDX-License-Identifier: MIT
#include "stats/races.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>

#include "model/lists.h"

namespace syscost::bench::stats {
namespace {

// docs/statistics.md says where these come from.
constexpr std::size_t kTogether = 3;    // if so many counts change together, that is the test's noise
constexpr double kFewest = 5;           // below so many calls, one call is a large change
constexpr double kAlone = 0.01;         // how far a count that changes alone may differ between two single runs
constexpr double kFewUntimely = 20;     // how many failures with EAGAIN or EINTR more or fewer are chance
constexpr double kFewestAlone = 200;    // below so many calls, such a count must agree
constexpr double kMostNoise = 1.0 / 3;  // how far counts that change together may
constexpr std::size_t kKnownNoise = 3;  // from so many repetitions on, OLD shows how far its counts vary

const SyscallSummary& summary_of(const Comparison& row, const Delta& delta) {
  for (const WindowSummary* window : {row.old_window, row.new_window}) {
    for (const SyscallSummary& one : window->syscalls) {
      if (one.name == delta.syscall) return one;
    }
  }
  static const SyscallSummary kNone;
  return kNone;
}

bool is_part_of_noise(const Delta& delta) {
  return delta.is_gated() && delta.errno_name.empty() && delta.old_count.median >= kFewest;
}

/// Threads that the test starts, as far as its counts tell.
double threads_started(const Comparison& row) {
  double started = 0;
  for (const SyscallSummary& one : row.old_window->syscalls) {
    if ((one.name == "clone3" || one.name == "clone") && one.count()) started += one.count()->median;
  }
  return started;
}

/// A thread makes these calls when it first runs (glibc unblocks its signals) and when it ends. They may fall into this
/// test's window, or later.
bool is_made_by_new_threads(const Delta& delta) {
  return (delta.syscall == "rt_sigprocmask" || delta.syscall == "exit") && delta.errno_name.empty();
}

/// The call came too early (EAGAIN) or was interrupted (EINTR). How often that happens depends on time.
bool is_of_time(std::string_view errno_name) {
  return errno_name == "EAGAIN" || errno_name == "EINTR";
}

/// Calls of the syscall more (or fewer, below 0) that came too early or were interrupted.
double untimely_calls(const Comparison& row, std::string_view syscall) {
  double more = 0;
  for (const Delta& delta : row.deltas) {
    if (delta.syscall == syscall && is_of_time(delta.errno_name))
      more += delta.new_count.median - delta.old_count.median;
  }
  return more;
}

/// True for a few such failures more or fewer, and for the calls that fail so. A loop that polls makes more than a few.
bool is_untimely(const Comparison& row, const Delta& delta, double apart) {
  const double more = untimely_calls(row, delta.syscall);
  const bool is_part = delta.errno_name.empty() && (delta.change == Change::grew ? apart <= more : apart <= -more);
  if (!is_part && !is_of_time(delta.errno_name)) return false;
  const Numbers& calls = summary_of(row, delta).count();
  return calls && apart <= std::max(kFewUntimely, kMostNoise * calls->median);
}

/// How far the counts of such a test vary.
struct Noise {
  double share = 0;
  double fewest = kFewest;  // calls, below which a count has to agree

  bool allows(double apart, double calls) const { return calls >= fewest && apart <= share * calls; }
};

Noise noise_of(const Comparison& row, bool change_together) {
  if (change_together) return {kMostNoise};
  // If several runs agree, a count that changes alone does not vary, in any order of the threads.
  const bool is_known = row.old_window->n >= kKnownNoise;
  return is_known || !waits_differ(row) ? Noise{} : Noise{kAlone, kFewestAlone};
}

}  // namespace

const SyscallSummary* find_wait(const Comparison& row) {
  if (!row.is_paired()) return nullptr;
  for (const WindowSummary* window : {row.old_window, row.new_window}) {
    for (const SyscallSummary& one : window->syscalls) {
      if (one.is_wait && model::has_class(one.classes, "volatile")) return &one;
    }
  }
  return nullptr;
}

bool is_open_to_chance(const Comparison& row) {
  return row.is_paired() && row.old_window->is_part_of_program() && !row.has_fault &&
         row.verdict != Verdict::incomparable && !row.old_window->is_per_iteration && find_wait(row) != nullptr;
}

bool is_shift_of_waits(const Comparison& row, const Delta& delta) {
  const bool is_apart = delta.new_count.min > delta.old_count.max || delta.new_count.max < delta.old_count.min;
  return is_apart && delta.is_volatile && summary_of(row, delta).is_wait;
}

bool waits_differ(const Comparison& row) {
  return std::any_of(row.deltas.begin(), row.deltas.end(),
                     [&](const Delta& delta) { return delta.errno_name.empty() && is_shift_of_waits(row, delta); });
}

bool has_waited_otherwise(const Comparison& row) {
  return std::any_of(row.deltas.begin(), row.deltas.end(),
                     [&](const Delta& delta) { return is_shift_of_waits(row, delta); });
}

double sum_of_shifts(const Comparison& row) {
  double sum = 0;
  for (const Delta& delta : row.deltas) {
    if (delta.errno_name.empty() && is_shift_of_waits(row, delta))
      sum += std::abs(delta.new_count.median - delta.old_count.median);
  }
  return sum;
}

double more_waits(const Comparison& row) {
  double sum = 0;
  for (const Delta& delta : row.deltas) {
    if (delta.errno_name.empty() && is_shift_of_waits(row, delta))
      sum += delta.new_count.median - delta.old_count.median;
  }
  return sum;
}

bool is_single_run_of_waits(const Comparison& row) {
  return is_open_to_chance(row) && row.old_window->n < kKnownNoise;
}

std::string_view classes_of(const Comparison& row, const Delta& delta) {
  return summary_of(row, delta).classes;
}

bool follows_load(const Comparison& row, const Delta& delta) {
  if (is_of_time(delta.errno_name)) return true;
  if (!delta.errno_name.empty()) return false;
  const double grown = delta.new_count.min - delta.old_count.max;
  const double shrunk = delta.old_count.min - delta.new_count.max;
  if (is_made_by_new_threads(delta)) return std::max(grown, shrunk) <= threads_started(row);
  const double untimely = untimely_calls(row, delta.syscall);
  return grown > 0 ? grown <= untimely : shrunk <= -untimely;
}

void allow_for_races(const CountPolicy& policy, Comparison& row) {
  const SyscallSummary* wait = find_wait(row);
  if (wait == nullptr || row.old_window->is_per_iteration) return;
  std::set<std::string_view> together;
  for (const Delta& delta : row.deltas) {
    if (is_part_of_noise(delta)) together.insert(delta.syscall);
  }
  const Noise noise = noise_of(row, together.size() >= kTogether);
  const double started = threads_started(row);
  bool has_calmed = false;
  bool has_noise = false;
  bool has_start = false;
  for (Delta& delta : row.deltas) {
    if (delta.is_volatile || (delta.change != Change::grew && delta.change != Change::shrank)) continue;
    const double apart = delta.change == Change::grew ? delta.new_count.min - delta.old_count.max
                                                      : delta.old_count.min - delta.new_count.max;
    const bool is_exact = policy.tolerance_of(delta.syscall, classes_of(row, delta)).is_strict();
    const bool is_start = is_made_by_new_threads(delta) && apart <= started;
    const bool is_noise = noise.allows(apart, delta.old_count.median);
    if (is_exact || (!is_start && !is_noise && !is_untimely(row, delta, apart))) continue;
    delta.change = Change::near;
    has_calmed = true;
    has_noise = has_noise || is_noise;
    has_start = has_start || is_start;
  }
  if (!has_calmed) return;
  row.verdict = verdict_of(row.deltas, row.verdict == Verdict::inconclusive);
  if (row.verdict != Verdict::near) return;
  row.reason = has_noise
                   ? fmt::format("it waits for other threads or processes ({}): changes up to {:.3g} % may be chance",
                                 wait->name, 100 * noise.share)
               : has_start ? "a thread that it starts may run after the test ended"
                           : "calls that came too early (EAGAIN) or were interrupted (EINTR)";
}

}  // namespace syscost::bench::stats
