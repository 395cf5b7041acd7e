// SPDX-License-Identifier: MIT
//
// Clocks and a mutex by functions of libc's own, for our code that is a part of the program.
//
// The program may define clock_gettime() or pthread_mutex_lock(). The clocks of std::chrono, which read the clock in
// the C++ library, and std::mutex would call the program's functions.
#pragma once

#include <pthread.h>

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

#pragma GCC visibility push(hidden)
namespace syscost::libc {

/// Satisfies BasicLockable. Not recursive; not for signal handlers.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    static const auto its_lock = SYSCOST_LIBC(pthread_mutex_lock);
    its_lock(&mutex_);
  }
  void unlock() {
    static const auto its_unlock = SYSCOST_LIBC(pthread_mutex_unlock);
    its_unlock(&mutex_);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace syscost::libc
#pragma GCC visibility pop
