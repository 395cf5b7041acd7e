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

namespace syscost::bench::stats {
namespace {

// docs/statistics.md says where these come from.
constexpr std::size_t kKnown = 3;       // from so many repetitions on OLD says which counts vary
constexpr std::size_t kManyTests = 20;  // so many tests, and
constexpr double kManyOfAll = 0.2;      // this share of those that wait: the program scatters as a whole
constexpr std::size_t kNewCalls = 3;    // tests in which a syscall must have shrunk before a first call of it is chance
constexpr double kLargest = 1.0 / 3;    // of a count: by what it may have grown by chance, whatever shrank
constexpr double kLargestWide = 3;      // the same where the program scatters as a whole: times what shrank most
constexpr double kFewCalls = 20;        // and calls that it may grow by there
constexpr double kComparable = 10;      // times a count: what shrank from more says nothing of it,
constexpr double kFewest = 20;          // where the count is taken for so many calls at least
constexpr std::size_t kSystematic = 5;  // times as many tests grew as shrank, or shrank as grew: that is no chance
constexpr std::size_t kWhole = 10;      // so many tests that grew, and most of those that make the call: all of them do

/// A syscall, and how it failed ("": its calls).
using Count = std::pair<std::string_view, std::string_view>;

struct CountScatter {
  std::size_t shrunk = 0;            // tests; of a known OLD those in which it varied
  std::map<double, double> by_most;  // by how much it shrank, by what from; of a known OLD its ranges, by their ends
  // Tests, without changes that follow the machine's load: these have a direction by chance.
  std::size_t risen = 0;
  std::size_t fallen = 0;

  /// The most that it shrank by in tests that make about as many calls as one that made `before`, or fewer.
  double most_shrunk(double before) const {
    const auto end = by_most.upper_bound(kComparable * std::max(before, kFewest));
    return std::accumulate(by_most.begin(), end, 0.0,
                           [](double most, const auto& one) { return std::max(most, one.second); });
  }
  bool has_risen() const { return risen > kSystematic * (1 + shrunk); }
  bool has_fallen() const { return fallen > kSystematic * (1 + risen); }
  bool has_risen_everywhere(std::size_t makers) const { return has_risen() && risen >= kWhole && 2 * risen > makers; }
};

struct Program {
  std::vector<Comparison*> waiting;
  std::map<std::string_view, std::size_t> makers;  // tests that make a syscall in OLD
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

/// What varied in OLD; true if anything did.
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
    for (const auto& [name, calls] : syscall.errnos) look(syscall, name, calls);
  }
  return has_varied;
}

/// Calls that `delta` shrank by; 0 where it did not, or is to be told exactly.
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

/// In which direction the counts of a test changed.
void add_directions(const Comparison& row, std::map<Count, CountScatter>& counts) {
  for (const Delta& delta : row.deltas) {
    if (!delta.is_gated() || follows_load(row, delta)) continue;
    CountScatter& count = counts[{delta.syscall, delta.errno_name}];
    if (delta.new_count.min > delta.old_count.max) ++count.risen;
    if (delta.new_count.max < delta.old_count.min) ++count.fallen;
  }
}

/// How many calls of `syscall` `count` may have grown by in a test that made `before` of them.
double allowed_growth(const Program& program, std::string_view syscall, const CountScatter& count, double before) {
  if (count.has_risen()) return 0;
  // What all tests of all runs agree on is exact in such a program, too; one run alone does not tell.
  const bool may_come = program.scatter.is_known ? count.shrunk > 0 : program.makers.count(syscall) != 0;
  if (program.is_wide() && may_come) {
    return std::max({kLargestWide * count.most_shrunk(before), kLargest * before, kFewCalls});
  }
  // A baseline of three runs shows what varies. Of a single run only the other tests do.
  if (program.scatter.is_known || count.shrunk == 0) return 0;
  if (before == 0) return count.shrunk >= kNewCalls ? count.most_shrunk(before) : 0;
  return std::max(count.most_shrunk(before), kLargest * before);
}

/// True where a count of the test shrank by chance: it did not do so in nearly all tests.
bool has_shrunk_by_chance(const CountPolicy& policy, Program& program, const Comparison& row) {
  return std::any_of(row.deltas.begin(), row.deltas.end(), [&](const Delta& delta) {
    return shrunk_by(policy, row, delta) > 0 && !program.counts[{delta.syscall, delta.errno_name}].has_fallen();
  });
}

/// Takes back what races.h allowed where a count grew in most tests of the program: threads of one test do not do that.
void uncalm(const CountPolicy& policy, Program& program, Comparison& row) {
  bool has_grown = false;
  for (Delta& delta : row.deltas) {
    if (delta.is_volatile || delta.change != Change::near) continue;
    const CountScatter& count = program.counts[{delta.syscall, delta.errno_name}];
    if (!count.has_risen_everywhere(program.makers[delta.syscall])) continue;
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
    // Had NEW been OLD, a count that shrank would have grown.
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
        if (one.count() && one.count()->max > 0) ++program.makers[one.name];
      }
    }
    for (const Comparison* row : program.waiting) {
      // This asks what all tests together did.
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

std::vector<ScatteredProgram> judge_together(const CountPolicy& policy, std::vector<Comparison>& rows) {
  find_moved_calls(rows);
  allow_for_first_waits(policy, rows);
  return allow_for_scatter(policy, rows);
}

}  // namespace syscost::bench::stats
