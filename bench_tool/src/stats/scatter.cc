// SPDX-License-Identifier: MIT
#include "stats/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

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
constexpr std::size_t kSystematic = 5;  // times as many tests grew as shrank: that is no chance

/// A syscall, and how it failed ("": its calls).
using Count = std::pair<std::string_view, std::string_view>;

struct CountScatter {
  std::size_t grown = 0;   // tests
  std::size_t shrunk = 0;  // tests; of a known OLD those in which it varied
  double most_shrunk = 0;  // calls; of a known OLD its widest range

  bool is_systematic() const { return grown > kSystematic * (1 + shrunk); }
};

struct Program {
  std::vector<Comparison*> waiting;
  std::set<std::string_view> made_before;  // syscalls that its tests make in OLD
  std::map<Count, CountScatter> counts;
  ScatteredProgram scatter;

  bool is_wide() const {
    return scatter.scattered >= kManyTests &&
           static_cast<double>(scatter.scattered) >= kManyOfAll * static_cast<double>(scatter.waiting);
  }
};

bool is_judged(const Comparison& row) {
  return row.is_paired() && row.old_window->is_part_of_program() && !row.has_fault &&
         row.verdict != Verdict::incomparable && !row.old_window->is_per_iteration && find_wait(row) != nullptr;
}

bool is_exact(const CountPolicy& policy, const Comparison& row, const Delta& delta) {
  return policy.tolerance_of(delta.syscall, classes_of(row, delta)).is_strict();
}

void add(CountScatter& count, double calls) {
  ++count.shrunk;
  count.most_shrunk = std::max(count.most_shrunk, calls);
}

/// What varied in OLD; true if anything did.
bool add_known(const CountPolicy& policy, const WindowSummary& window, std::map<Count, CountScatter>& counts) {
  bool has_varied = false;
  const auto look = [&](const SyscallSummary& syscall, std::string_view name, const Spread& calls) {
    if (calls.is_exact()) return;
    has_varied = true;
    add(counts[{syscall.name, name}], calls.max - calls.min);
  };
  for (const SyscallSummary& syscall : window.syscalls) {
    if (policy.is_volatile(syscall.name, syscall.classes)) continue;
    if (syscall.count()) look(syscall, "", *syscall.count());
    for (const auto& [name, calls] : syscall.errnos) look(syscall, name, calls);
  }
  return has_varied;
}

/// What shrank from OLD to NEW; true if anything did.
bool add_shrunk(const Comparison& row, std::map<Count, CountScatter>& counts) {
  bool has_shrunk = false;
  for (const Delta& delta : row.deltas) {
    const double calls = delta.old_count.median - delta.new_count.median;
    if (!delta.is_gated() || calls <= 0) continue;
    has_shrunk = true;
    add(counts[{delta.syscall, delta.errno_name}], calls);
  }
  return has_shrunk;
}

/// How many calls of `syscall` `count` may have grown by in a test that made `before` of them.
double allowed_growth(const Program& program, std::string_view syscall, const CountScatter& count, double before) {
  if (count.is_systematic()) return 0;
  // What all tests of all runs agree on is exact in such a program, too; one run alone does not tell.
  const bool may_come = program.scatter.is_known ? count.shrunk > 0 : program.made_before.count(syscall) != 0;
  if (program.is_wide() && may_come) {
    return std::max({kLargestWide * count.most_shrunk, kLargest * before, kFewCalls});
  }
  // A baseline of three runs shows what varies. Of a single run only the other tests do.
  if (program.scatter.is_known || count.shrunk == 0) return 0;
  if (before == 0) return count.shrunk >= kNewCalls ? count.most_shrunk : 0;
  return std::max(count.most_shrunk, kLargest * before);
}

void calm(const CountPolicy& policy, Program& program, Comparison& row) {
  bool has_calmed = false;
  std::string_view example;
  for (Delta& delta : row.deltas) {
    if (delta.is_volatile || delta.change != Change::grew || is_exact(policy, row, delta)) continue;
    const CountScatter& count = program.counts[{delta.syscall, delta.errno_name}];
    const double growth = delta.new_count.min - delta.old_count.max;
    if (growth > allowed_growth(program, delta.syscall, count, delta.old_count.median)) continue;
    delta.change = Change::near;
    has_calmed = true;
    example = delta.syscall;
  }
  if (!has_calmed) return;
  row.verdict = verdict_of(row.deltas, row.verdict == Verdict::inconclusive);
  if (row.verdict == Verdict::regressed || row.verdict == Verdict::inconclusive) return;
  row.reason = program.is_wide() ? "counts of many of its program's tests come and go"
                                 : fmt::format("{} came and went in other tests of its program, too", example);
}

}  // namespace

std::vector<ScatteredProgram> allow_for_scatter(const CountPolicy& policy, std::vector<Comparison>& rows) {
  std::map<std::string_view, Program> programs;
  for (Comparison& row : rows) {
    if (!is_judged(row)) continue;
    Program& program = programs[row.new_window->program];
    program.waiting.push_back(&row);
    program.scatter.is_known = program.scatter.is_known || row.old_window->n >= kKnown;
  }
  std::vector<ScatteredProgram> scattered;
  for (auto& [name, program] : programs) {
    program.scatter.name = name;
    program.scatter.waiting = program.waiting.size();
    for (const Comparison* row : program.waiting) {
      const bool is_scattered = program.scatter.is_known ? add_known(policy, *row->old_window, program.counts)
                                                         : add_shrunk(*row, program.counts);
      if (is_scattered) ++program.scatter.scattered;
      for (const SyscallSummary& one : row->old_window->syscalls) {
        if (one.count() && one.count()->max > 0) program.made_before.insert(one.name);
      }
      for (const Delta& delta : row->deltas) {
        if (delta.change == Change::grew) ++program.counts[{delta.syscall, delta.errno_name}].grown;
      }
    }
    for (Comparison* row : program.waiting) calm(policy, program, *row);
    if (program.is_wide()) scattered.push_back(program.scatter);
  }
  return scattered;
}

std::string warning_of(const ScatteredProgram& program) {
  return fmt::format(
      "counts of {} come and go: in {} of its {} tests that wait for others some {}, so single calls more are not "
      "gated there; use budgets, or give its threads and servers an order",
      program.name.empty() ? "the program" : program.name, program.scattered, program.waiting,
      program.is_known ? "varied in OLD" : "shrank");
}

std::vector<ScatteredProgram> judge_together(const CountPolicy& policy, std::vector<Comparison>& rows) {
  find_moved_calls(rows);
  return allow_for_scatter(policy, rows);
}

}  // namespace syscost::bench::stats
