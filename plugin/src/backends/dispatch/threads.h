// SPDX-License-Identifier: MIT
//
// The threads of this process, as /proc shows them: those that dispatch cannot see must be told from the others.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace syscost::dispatch {

/// All of them, also those that are ending and the kernel's workers; 0 where there is no /proc.
std::size_t count_threads();

/// Those that may make calls, in ascending order: not ending, not io_uring's.
std::vector<pid_t> calling_threads();

/// Takes back the records of threads that have ended while calls were not dispatched: no call of ours said so.
void forget_ended_threads();

/// How many threads have a record of ours.
std::size_t count_armed_threads();

/// How many of `all` threads are not armed. They are told apart by number alone: asking each would interrupt it.
std::size_t count_unseen_threads(std::size_t all);

/// Threads that were made in timed passes, while nothing was watched: one that lives on is never seen. Not thread-safe.
class UnwatchedThreads {
 public:
  void begin_timed_passes() { before_ = calling_threads(); }
  void end_timed_passes();
  /// Their calls are unknown: one event is lost for each of them at each call of this function. Returns the sum so far.
  std::uint64_t count_losses();

 private:
  std::vector<pid_t> before_;
  std::vector<pid_t> made_;  // and still there
  std::uint64_t losses_ = 0;
};

/// Threads older than the backend, which it does not see: static initialisers and libraries make them. Not thread-safe.
class OlderThreads {
 public:
  /// To be called when the backend has opened, with the number of threads that it does not see.
  void begin(std::size_t unseen);
  /// Returns the lost events so far. Each call adds one for each such thread that has run since the call before.
  std::uint64_t count_losses();

 private:
  struct One {
    pid_t thread = 0;
    std::uint64_t run_ns = 0;
  };
  std::vector<One> threads_;
  bool are_known_ = true;  // which ones they are
  std::uint64_t losses_ = 0;
};

}  // namespace syscost::dispatch
