// SPDX-License-Identifier: MIT
//
// Windows for the tests of verdicts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "judge/verdict.h"

namespace syscost::bench::judge {

inline stats::Spread exact(double value) {
  return *stats::spread_of({value, value});
}

inline stats::SyscallSummary syscall(const std::string& name, stats::Numbers calls) {
  stats::SyscallSummary one;
  one.name = name;
  one.calls = calls;
  one.errnos.emplace();
  return one;
}

inline stats::WindowSummary window(std::vector<stats::SyscallSummary> syscalls) {
  stats::WindowSummary one;
  one.name = "S.T";
  one.n = syscalls.empty() || !syscalls.front().calls ? 2 : syscalls.front().calls->n;
  one.outcomes["passed"] = one.n;
  one.calls = exact(1);
  one.lost = 0;
  one.syscalls = std::move(syscalls);
  return one;
}

inline Verdict verdict(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window) {
  return compare_windows(&old_window, &new_window, {}).verdict;
}

}  // namespace syscost::bench::judge
