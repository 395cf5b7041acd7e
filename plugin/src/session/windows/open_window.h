// SPDX-License-Identifier: MIT
//
// The window that an adapter has open (a test, a suite's set-up, an environment), and the kernel's numbers of the
// process at its start.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/cost_data.h"
#include "csv/window_rows.h"
#include "session/windows/backend_holder.h"
#include "syscost/adapter.h"

namespace syscost::session {

/// Monotonic time in ns; no syscall if the vDSO has the clock.
std::uint64_t monotonic_ns();

/// True if `elapsed_ns` is the distance to an earlier time: the clock was put back, as it is for a process that enters
/// another time namespace.
constexpr bool went_back(std::uint64_t elapsed_ns) {
  return static_cast<std::int64_t>(elapsed_ns) < 0;
}

/// The process's usage since its start, in numbers that the kernel keeps for each process anyway. Reading it is a
/// syscall: outside windows only.
struct Usage {
  std::uint64_t user_ns = 0;
  std::uint64_t system_ns = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t peak_rss_bytes = 0;  ///< The most until now.

  static Usage now();
  /// The same of the children that ended and were waited for.
  static Usage of_children();
  /// Adds the usage from `before` to `after`.
  void add(const Usage& after, const Usage& before);
  /// Fills the columns with the usage from `before` to now.
  void fill(csv::WindowColumns& columns, const Usage& before) const;
};

struct OpenWindow {
  adapter::Kind kind{};
  std::string test;
  std::string name;
  int repetition = 0;
  std::thread::id owner = std::this_thread::get_id();
  /// The window of a command that runs below this process, instead of a test's (session/outside.h).
  bool is_of_processes_below = false;
  /// For a command: the window has the calls of this program only; other programs have rows of their own. Empty: it has
  /// the calls of all programs.
  std::string own_program;
  std::string starter;  ///< For a command: the program of this process. The command's process began as it.
  Usage usage_before;
  std::uint64_t opened_ns = 0;  ///< On the monotonic clock.
  std::uint64_t start_ns = 0;  ///< opened_ns, moved on by each pause: the window's own time is what is left to its end.
  // The loops inside, which are not part of the window.
  std::string excluded;  // "excludes loop flush"
  std::vector<std::string> loop_lines;
  std::uint64_t loop_start_ns = 0;
  Usage loop_usage;
  OpenBackend* opened = nullptr;
  WindowBook::Window* book_window = nullptr;
  std::uint64_t hidden_losses_before = 0;  ///< OpenBackend::hidden_losses() of `opened` when the window opened.
  // Set by observers.
  bool has_foreign_time = false;  ///< All times include an observer's, so the row has none.
  bool is_cut_off = false;        ///< The process ends in the middle of it.
  std::string folder;             ///< For files about the window; empty until it is needed.
};

/// Column `detail` of a window with calls that have no event: `trace lost 12`, after `before`.
inline std::string with_unkept(std::string before, const detail::CostData* cost) {
  if (cost == nullptr || cost->unkept() == 0) return before;
  return (before.empty() ? "" : before + "; ") + "trace lost " + std::to_string(cost->unkept());
}

}  // namespace syscost::session
