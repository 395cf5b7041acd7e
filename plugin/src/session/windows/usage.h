// SPDX-License-Identifier: MIT
//
// Usage: the numbers that the kernel keeps for each process anyway: processor time, context switches, page faults. And
// the clock.
#pragma once

#include <cstdint>

#include "csv/window_rows.h"

namespace syscost::session {

/// Monotonic time in ns; no syscall if the vDSO has the clock.
std::uint64_t monotonic_ns();

/// True if `elapsed_ns` is the distance to an earlier time: the clock was put back, as it is for a process that enters
/// another time namespace.
constexpr bool went_back(std::uint64_t elapsed_ns) {
  return static_cast<std::int64_t>(elapsed_ns) < 0;
}

/// The process's usage since its start. Reading it is a syscall: outside windows only.
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

}  // namespace syscost::session
