// SPDX-License-Identifier: MIT
//
// Tests of a program, before and after, for the rules that look at all of them together.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stats/scatter.h"
#include "windows.h"

namespace syscost::bench::stats {

/// The call that tests which wait make.
inline SyscallSummary futex_calls(const std::vector<double>& counts) {
  SyscallSummary futex = syscall("futex", spread_of(counts));
  futex.classes = "wait;volatile";
  futex.is_wait = true;
  return futex;
}

/// Runs of a program with tests that wait for others, before and after.
class JudgedSuite {
 public:
  explicit JudgedSuite(Tolerance tolerance = {}) : policy_(tolerance) {}

  /// A test that makes `call` so often in each repetition.
  JudgedSuite& add(const std::string& call, const std::vector<double>& before, const std::vector<double>& after,
                   bool waits = true, std::string_view program = "server_test") {
    return add_test({syscall(call, spread_of(before))}, {syscall(call, spread_of(after))}, waits, program);
  }

  JudgedSuite& add_test(std::vector<SyscallSummary> before, std::vector<SyscallSummary> after, bool waits = true,
                        std::string_view program = "server_test") {
    const std::string name = fmt::format("S.T{}", windows_.size() / 2);
    const WindowSummary& old_window = add_window(name, std::move(before), waits, program);
    const WindowSummary& new_window = add_window(name, std::move(after), waits, program);
    rows.push_back(compare_windows(&old_window, &new_window, policy_));
    return *this;
  }

  JudgedSuite& add_times(int times, const std::string& call, const std::vector<double>& before,
                         const std::vector<double>& after) {
    for (int i = 0; i < times; ++i) add(call, before, after);
    return *this;
  }

  /// Tests that read 40 times: `fewer` of them less often in NEW, and some of them more often.
  JudgedSuite& add_scattered(int fewer) {
    return add_times(fewer, "read", {40}, {38}).add_times(4, "read", {40}, {41});
  }

  /// Judges, and says what became of the first test.
  Verdict first() {
    const JointJudgement together = judge_together(policy_, rows);
    scattered = together.scattered;
    unequal_waits = together.unequal_waits;
    return rows.front().verdict;
  }

  std::vector<Comparison> rows;
  std::vector<ScatteredProgram> scattered;
  std::size_t unequal_waits = 0;

 private:
  const WindowSummary& add_window(const std::string& name, std::vector<SyscallSummary> calls, bool waits,
                                  std::string_view program) {
    const std::size_t n = calls.front().count()->n;
    if (waits) calls.push_back(futex_calls(std::vector<double>(n, 5)));
    WindowSummary one = window(std::move(calls));
    one.name = name;
    one.program = program;
    one.kind = "test";
    one.origin = schema::kOriginSyscost;
    one.entries = one.calls;
    one.n = n;
    windows_.push_back(std::move(one));
    return windows_.back();
  }

  CountPolicy policy_;
  std::deque<WindowSummary> windows_;
};

}  // namespace syscost::bench::stats
