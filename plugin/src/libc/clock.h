// SPDX-License-Identifier: MIT
//
// The clocks, where the program may define clock_gettime(): those of std::chrono read it in the C++ library, which
// would call the program's.
#pragma once

#include <chrono>
#include <ctime>

#include "libc/symbols.h"

#pragma GCC visibility push(hidden)
namespace syscost::libc {

/// Nanoseconds of `clock`; 0 if it cannot be read.
inline std::chrono::nanoseconds read_clock(clockid_t clock) {
  static const auto its_clock_gettime = SYSCOST_LIBC(clock_gettime);
  timespec time{};
  if (its_clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// In place of std::chrono::steady_clock.
struct SteadyClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SteadyClock>;
  static constexpr bool is_steady = true;  // NOLINT(readability-identifier-naming): the C++ library's name
  static time_point now() { return time_point(read_clock(CLOCK_MONOTONIC)); }
};

/// The time of the day, in place of std::chrono::system_clock::now().
inline std::chrono::system_clock::time_point system_time() {
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(read_clock(CLOCK_REALTIME)));
}

}  // namespace syscost::libc
#pragma GCC visibility pop
