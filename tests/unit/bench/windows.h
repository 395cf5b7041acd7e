// SPDX-License-Identifier: MIT
//
// Windows for the tests of verdicts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stats/verdict.h"

namespace syscost::bench::stats {

inline Spread exact(double value) {
  return *spread_of({value, value});
}

inline SyscallSummary syscall(const std::string& name, Numbers calls) {
  SyscallSummary one;
  one.name = name;
  one.calls = calls;
  one.errnos.emplace();
  return one;
}

inline WindowSummary window(std::vector<SyscallSummary> syscalls) {
  WindowSummary one;
  one.name = "S.T";
  one.n = 2;
  one.outcomes["passed"] = 2;
  one.calls = exact(1);
  one.lost = 0;
  one.syscalls = std::move(syscalls);
  return one;
}

inline Verdict verdict(const WindowSummary& old_window, const WindowSummary& new_window) {
  return compare_windows(&old_window, &new_window, {}).verdict;
}

}  // namespace syscost::bench::stats
