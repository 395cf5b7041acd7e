// SPDX-License-Identifier: MIT
//
// The overview of bench summary: what is slow, what fails, and which syscalls, of a whole suite in one screen.
//
// A table for each of two thousand tests would be fourteen thousand lines. So the syscalls of all tests are added up to
// one table like strace -c's, and each test is one line, the worst first.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "commands/shared/summary_tables.h"
#include "commands/shared/window_notes.h"
#include "render/terminal.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// True if `a` comes before `b` in the order `key`: worst, wall, kernel, waits, calls, errors or name.
bool comes_first(const OverviewLine& a, const OverviewLine& b, const std::string& key);

/// The windows that left something open.
class LeavingWindows {
 public:
  /// `left`: what it left; "" if nothing.
  void add(const std::string& window, const std::string& left);
  /// `2 tests (--details has the descriptors): A.B: 1 thread; C.D: 1 descriptor`; "" if there are none.
  std::string text() const;

 private:
  std::size_t count_ = 0;
  std::string first_;  // of them, and what they left
};

/// The overview of one RUN. You add windows in any order; they are not kept.
class Overview {
 public:
  void add(const stats::WindowSummary& window);

  /// Text or, with `markdown`, tables for a page. `source`: the line above it. `crashes`: of crash_lines().
  std::string text(const std::string& source, const std::vector<std::string>& crashes, const cli::Options& options,
                   bool markdown, const render::Paint& paint) const;

 private:
  void add_totals(const stats::WindowSummary& window);
  void add_leaks(const stats::WindowSummary& window);
  std::string totals_line() const;
  std::string syscall_table(bool waits, std::size_t most, std::size_t width, bool markdown) const;

  std::vector<OverviewLine> lines_;
  std::map<std::string, SyscallTotal> syscalls_;
  std::optional<double> wall_ns_ = 0, work_ns_ = 0, wait_ns_ = 0;
  std::optional<double> bytes_read_ = 0, bytes_written_ = 0;
  std::size_t tests_ = 0;
  std::map<std::string, std::size_t> outcomes_;  // of tests, but for those that passed
  std::size_t quiet_tests_ = 0;                  // without a syscall
  std::optional<double> quiet_wall_ns_ = 0;
  std::size_t lossy_ = 0;
  stats::SeenFilters filters_;
  InjectedCalls injected_;
  LeavingWindows leaves_again_, leaves_once_, leaves_unknown_;
  bool has_totals_ = false;
  bool has_repetitions_ = false;
};

}  // namespace syscost::bench::commands
