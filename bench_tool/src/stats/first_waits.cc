// SPDX-License-Identifier: MIT
#include "stats/first_waits.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "stats/races.h"

namespace syscost::bench::stats {
namespace {

constexpr double kMostCalls = 2;   // of one syscall: two files, one for each question
constexpr double kMostBefore = 2;  // a test that opened more files is exact

/// How many more calls that read files a test makes in NEW; below 0: fewer.
struct Reading {
  double opens = 0;
  double missing = 0;  // opens of files that are not there
  double reads = 0;
  double closes = 0;
  bool is_few = true;

  bool asks_more() const { return std::max({opens, missing, closes}) > 0; }
  /// Each file is missing, or is read by one call and closed, as by a library that asks for a number. A program that
  /// reads its settings looks for the end of the file, too. One that writes a file, or keeps it open, does not ask.
  bool is_of_whole_files(bool sees_failures) const {
    return is_few && reads == closes && (!sees_failures || opens - missing == closes);
  }
};

/// The number of `reading` that `delta` is about; null where there is none.
double* find_number(Reading& reading, const Delta& delta) {
  if (delta.syscall == "openat" && delta.errno_name == "ENOENT") return &reading.missing;
  if (!delta.errno_name.empty()) return nullptr;
  return delta.syscall == "openat"  ? &reading.opens
         : delta.syscall == "read"  ? &reading.reads
         : delta.syscall == "close" ? &reading.closes
                                    : nullptr;
}

bool are_few(const Spread& one, const Spread& other) {
  return std::min(one.max, other.max) <= kMostBefore &&
         std::max(one.max, other.max) - std::min(one.min, other.min) <= kMostCalls;
}

Reading reading_of(const Comparison& row) {
  Reading reading;
  for (const Delta& delta : row.deltas) {
    double* number = find_number(reading, delta);
    if (number == nullptr) continue;
    *number += delta.new_count.median - delta.old_count.median;
    reading.is_few = reading.is_few && are_few(delta.old_count, delta.new_count);
  }
  return reading;
}

/// True where the test may read more or less because its threads waited otherwise.
bool may_be_of_waits(const Comparison& row, const Reading& reading) {
  return is_open_to_chance(row) && waits_differ(row) && reading.is_of_whole_files(!row.counts_entries);
}

bool has_opens(const Comparison& row, Change change) {
  return std::any_of(row.deltas.begin(), row.deltas.end(), [&](const Delta& delta) {
    return delta.syscall == "openat" && delta.errno_name.empty() && !delta.is_volatile && delta.change == change;
  });
}

struct Turns {
  int more = 0;   // tests that open a file more
  int fewer = 0;  // tests that open a file less, and may have read it because they waited
};

void count_turns(const Comparison& row, Turns& turns) {
  if (has_opens(row, Change::grew)) ++turns.more;
  if (has_opens(row, Change::shrank) && may_be_of_waits(row, reading_of(row))) ++turns.fewer;
}

void calm(const CountPolicy& policy, Comparison& row) {
  Reading reading = reading_of(row);
  if (!reading.asks_more() || !may_be_of_waits(row, reading)) return;
  bool has_calmed = false;
  for (Delta& delta : row.deltas) {
    if (delta.is_volatile || delta.change != Change::grew || find_number(reading, delta) == nullptr) continue;
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
    const bool is_judged = row.is_paired() && row.old_window->is_part_of_program() && !row.has_fault;
    if (is_judged) count_turns(row, programs[row.new_window->program]);
  }
  for (Comparison& row : rows) {
    if (!is_open_to_chance(row)) continue;
    const Turns& turns = programs[row.new_window->program];
    if (turns.more <= turns.fewer + 1) calm(policy, row);
  }
}

}  // namespace syscost::bench::stats
