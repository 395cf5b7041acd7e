// SPDX-License-Identifier: MIT
#include "stats/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "stats/first_waits.h"
#include "stats/races.h"
#include "stats/unequal_waits.h"

namespace syscost::bench::stats {
namespace {

// docs/statistics.md says where these come from.
constexpr std::size_t kKnown = 3;       // from so many repetitions on, OLD shows which counts vary
constexpr std::size_t kManyTests = 20;  // if counts of so many tests come and go, and
constexpr double kManyOfAll = 0.2;      // of this share of those that wait, the program scatters as a whole
constexpr std::size_t kNewCalls = 3;    // a first call of a syscall is chance only if it shrank in so many tests
constexpr double kLargest = 1.0 / 3;    // the share of a count by which it may grow by chance
constexpr double kLargestWide = 3;      // in a program that scatters as a whole: times the most that it shrank
constexpr double kFewCalls = 20;        // in such a program a count may always grow by so many calls
constexpr double kComparable = 10;      // a test with more than so many times the calls does not compare;
constexpr double kFewestCalls = 20;     // there a count is taken for at least so many calls
constexpr std::size_t kSystematic = 5;  // a direction: so many times as many tests grew as shrank, or the reverse
constexpr std::size_t kWhole = 10;      // if so many tests grew, and most of those that make the call, all grew

/// A syscall, and how it failed ("": its calls).
using Count = std::pair<std::string_view, std::string_view>;

struct CountScatter {
  std::size_t shrunk = 0;            // tests in which it shrank; if OLD is known, in which it varied
  std::map<double, double> by_most;  // count before -> shrunk by; if OLD is known, end of its range -> width
  // Tests in which it grew and shrank, without changes that follow the machine's load: load has a direction.
  std::size_t risen = 0;
  std::size_t fallen = 0;
  std::size_t risen_in_all = 0;  // also in tests that waited more often

  /// The most that it shrank by, in tests that make about `before` calls of it, or fewer.
  double most_shrunk(double before) const {
    const auto end = by_most.upper_bound(kComparable * std::max(before, kFewestCalls));
    return std::accumulate(by_most.begin(), end, 0.0,
                           [](double most, const auto& one) { return std::max(most, one.second); });
  }
  bool has_risen() const { return risen > kSystematic * (1 + shrunk); }
  bool has_fallen() const { return fallen > kSystematic * (1 + risen_in_all); }
  bool has_risen_everywhere(std::size_t makers) const { return has_risen() && risen >= kWhole && 2 * risen > makers; }
};

struct Program {
  std::vector<Comparison*> waiting;
  std::map<std::string_view, std::size_t> makers;   // tests that make a syscall in OLD
  std::map<std::string_view, std::size_t> showing;  // those of them that can show whether it rose by itself
  std::map<Count, CountScatter> counts;
  ScatteredProgram scatter;

  bool is_wide() const {
    return scatter.scattered >= kManyTests &&
           static_cast<double>(scatter.scattered) >= kManyOfAll * static_cast<double>(scatter.waiting);
  }
};

bool is_exact(const CountPolicy& policy, const Comparison& row, const Delta& delta) {
  return policy.tolerance_of(delta.syscall, classes_of(row, delta)).is_strict();
}

/// `calls` fewer, of `from`.
void add(CountScatter& count, double calls, double from) {
  ++count.shrunk;
  double& most = count.by_most[from];
  most = std::max(most, calls);
}

/// Adds what varied in OLD; true if anything did.
bool add_known(const CountPolicy& policy, const WindowSummary& window, std::map<Count, CountScatter>& counts) {
  bool has_varied = false;
  const auto look = [&](const SyscallSummary& syscall, std::string_view name, const Spread& calls) {
    if (calls.is_exact()) return;
    has_varied = true;
    add(counts[{syscall.name, name}], calls.max - calls.min, calls.max);
  };
  for (const SyscallSummary& syscall : window.syscalls) {
    if (policy.is_volatile(syscall.name, syscall.classes)) continue;
    if (policy.tolerance_of(syscall.name, syscall.classes).is_strict()) continue;
    if (syscall.count()) look(syscall, "", *syscall.count());
    if (!syscall.errnos) continue;
    for (const auto& [name, calls] : *syscall.errnos) look(syscall, name, calls);
  }
  return has_varied;
}

/// Calls that `delta` shrank by; 0 if it did not shrink, or has a tolerance of 0 %.
double shrunk_by(const CountPolicy& policy, const Comparison& row, const Delta& delta) {
  if (!delta.is_gated() || is_exact(policy, row, delta)) return 0;
  return std::max(delta.old_count.median - delta.new_count.median, 0.0);
}

void add_shrunk(const CountPolicy& policy, const Comparison& row, std::map<Count, CountScatter>& counts) {
  for (const Delta& delta : row.deltas) {
    const double calls = shrunk_by(policy, row, delta);
    if (calls > 0) add(counts[{delta.syscall, delta.errno_name}], calls, delta.old_count.median);
  }
}

/// On a busy machine most tests wait more often, and make more calls around each wait. If single runs are compared, a
/// count has risen by itself only in a test that did not wait more often.
bool may_show(const Comparison& row, Change direction) {
  if (!is_single_run_of_waits(row)) return true;
  return direction == Change::grew ? more_waits(row) <= 0 : more_waits(row) >= 0;
}

/// In which direction the counts of a test changed.
void add_directions(const Comparison& row, std::map<Count, CountScatter>& counts) {
  for (const Delta& delta : row.deltas) {
    if (!delta.is_gated() || follows_load(row, delta)) continue;
    CountScatter& count = counts[{delta.syscall, delta.errno_name}];
    if (delta.new_count.min > delta.old_count.max) {
      ++count.risen_in_all;
      if (may_show(row, Change::grew)) ++count.risen;
    }
    if (delta.new_count.max < delta.old_count.min && may_show(row, Change::shrank)) ++count.fallen;
  }
}

/// By how many calls `count` of `syscall` may grow by chance in a test that made `before` of them.
double allowed_growth(const Program& program, std::string_view syscall, const CountScatter& count, double before) {
  if (count.has_risen()) return 0;
  // A count that was the same in all tests and runs is exact in such a program, too. One run does not show that.
  const bool may_come = program.scatter.is_known ? count.shrunk > 0 : program.makers.count(syscall) != 0;
  if (program.is_wide() && may_come) {
    return std::max({kLargestWide * count.most_shrunk(before), kLargest * before, kFewCalls});
  }
  // A baseline of three runs shows what varies. With a single run, only the other tests show it.
  if (program.scatter.is_known || count.shrunk == 0) return 0;
  if (before == 0) return count.shrunk >= kNewCalls ? count.most_shrunk(before) : 0;
  return std::max(count.most_shrunk(before), kLargest * before);
}

/// True if a count of the test shrank by chance: the program's tests show no direction for it.
bool has_shrunk_by_chance(const CountPolicy& policy, Program& program, const Comparison& row) {
  return std::any_of(row.deltas.begin(), row.deltas.end(), [&](const Delta& delta) {
    return shrunk_by(policy, row, delta) > 0 && !program.counts[{delta.syscall, delta.errno_name}].has_fallen();
  });
}

/// Takes back what races.h allowed if a count grew in most tests of the program: the threads of one test do not do
/// that.
void uncalm(const CountPolicy& policy, Program& program, Comparison& row) {
  bool has_grown = false;
  for (Delta& delta : row.deltas) {
    if (delta.is_volatile || delta.change != Change::near) continue;
    const CountScatter& count = program.counts[{delta.syscall, delta.errno_name}];
    if (!count.has_risen_everywhere(program.showing[delta.syscall])) continue;
    const Tolerance tolerance = policy.tolerance_of(delta.syscall, classes_of(row, delta));
    if (compare_counts(delta.old_count, delta.new_count, tolerance) != Change::grew) continue;
    delta.change = Change::grew;
    has_grown = true;
  }
  if (!has_grown) return;
  row.verdict = Verdict::regressed;
  row.reason.clear();
}

void calm(const CountPolicy& policy, Program& program, Comparison& row) {
  bool has_calmed = false;
  std::string_view example;
  for (Delta& delta : row.deltas) {
    if (delta.is_volatile || is_exact(policy, row, delta)) continue;
    const CountScatter& count = program.counts[{delta.syscall, delta.errno_name}];
    // Swap OLD and NEW, and a count that shrank is one that grew.
    const bool has_shrunk = delta.change == Change::shrank && program.is_wide() && !count.has_fallen();
    if (delta.change != Change::grew && !has_shrunk) continue;
    const double apart =
        has_shrunk ? delta.old_count.min - delta.new_count.max : delta.new_count.min - delta.old_count.max;
    const double before = has_shrunk ? delta.new_count.median : delta.old_count.median;
    if (apart > allowed_growth(program, delta.syscall, count, before)) continue;
    delta.change = Change::near;
    has_calmed = true;
    example = delta.syscall;
  }
  if (!has_calmed) return;
  row.verdict = verdict_of(row.deltas, row.verdict == Verdict::inconclusive);
  if (row.verdict != Verdict::near) return;
  row.reason = program.is_wide() ? "counts scatter in many tests of its program"
                                 : fmt::format("{} varied in other tests of its program, too", example);
}

}  // namespace

std::vector<ScatteredProgram> allow_for_scatter(const CountPolicy& policy, std::vector<Comparison>& rows) {
  std::map<std::string_view, Program> programs;
  for (Comparison& row : rows) {
    if (!is_open_to_chance(row)) continue;
    Program& program = programs[row.new_window->program];
    program.waiting.push_back(&row);
    program.scatter.is_known = program.scatter.is_known || row.old_window->n >= kKnown;
  }
  std::vector<ScatteredProgram> scattered;
  for (auto& [name, program] : programs) {
    program.scatter.name = name;
    program.scatter.waiting = program.waiting.size();
    for (const Comparison* row : program.waiting) {
      if (program.scatter.is_known) {
        if (add_known(policy, *row->old_window, program.counts)) ++program.scatter.scattered;
      } else {
        add_shrunk(policy, *row, program.counts);
      }
      add_directions(*row, program.counts);
      for (const SyscallSummary& one : row->old_window->syscalls) {
        if (!one.count() || one.count()->max == 0) continue;
        ++program.makers[one.name];
        if (may_show(*row, Change::grew)) ++program.showing[one.name];
      }
    }
    for (const Comparison* row : program.waiting) {
      // Needs the directions of all tests, so it comes after them.
      if (!program.scatter.is_known && has_shrunk_by_chance(policy, program, *row)) ++program.scatter.scattered;
    }
    for (Comparison* row : program.waiting) {
      uncalm(policy, program, *row);
      calm(policy, program, *row);
    }
    if (program.is_wide()) scattered.push_back(program.scatter);
  }
  return scattered;
}

std::string warning_of(const ScatteredProgram& program) {
  return fmt::format(
      "counts of {} scatter: in {} of its {} tests that wait for other threads or processes some {}, so single "
      "additional calls are not gated there; use budgets, or fix the order of its threads and servers",
      program.name.empty() ? "the program" : program.name, program.scattered, program.waiting,
      program.is_known ? "varied in OLD" : "shrank");
}

JointJudgement judge_together(const CountPolicy& policy, std::vector<Comparison>& rows) {
  find_moved_calls(rows);
  allow_for_first_waits(policy, rows);
  const std::vector<std::size_t> unequal = allow_for_unequal_waits(policy, rows);
  JointJudgement together;
  together.scattered = allow_for_scatter(policy, rows);
  for (const std::size_t i : unequal) together.unequal_waits += rows[i].verdict == Verdict::near ? 1 : 0;
  return together;
}

}  // namespace syscost::bench::stats
