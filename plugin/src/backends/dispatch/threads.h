// SPDX-License-Identifier: MIT
//
// Reads the threads of this process from /proc, and finds those that dispatch cannot see.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace syscost::dispatch {

/// Counts all threads, also threads that are ending and the kernel's workers; 0 if there is no /proc.
std::size_t count_threads();

/// Returns the ids of threads that may make calls, ascending: without threads that are ending, and io_uring's.
std::vector<pid_t> calling_threads();

/// Frees the records of threads that ended while calls were not dispatched, so that the stub did not see their end.
void forget_ended_threads();

/// Returns the number of threads that have a record of ours.
std::size_t count_armed_threads();

/// Returns how many of `all` threads are not armed. It compares numbers only, because asking a thread interrupts it.
std::size_t count_unseen_threads(std::size_t all);

/// Returns those of `threads` that live and have no record of ours.
std::vector<pid_t> still_unseen(const std::vector<pid_t>& threads);

/// Threads that were made in timed passes, while dispatch was off: dispatch never sees one that lives on. Only
/// count_unseen() may be called on any thread.
class UnwatchedThreads {
 public:
  void begin_timed_passes() { before_ = calling_threads(); }
  void end_timed_passes();
  /// Their calls are unknown: one event is lost for each of them at each call of this function. Returns the sum so far.
  std::uint64_t count_losses();
  /// Those that live.
  std::size_t count_unseen() const;

 private:
  void set_made(std::vector<pid_t> made);

  std::vector<pid_t> before_;
  mutable std::mutex made_lock_;
  std::vector<pid_t> made_;  // and still there
  std::uint64_t losses_ = 0;
};

/// Threads older than the backend, which it does not see: static initialisers and libraries make them. Not thread-safe,
/// but for count_unseen().
class OlderThreads {
 public:
  /// Call it when the backend is open, with the number of threads that it does not see.
  void begin(std::size_t unseen);
  /// Returns the lost events so far. Each call adds one for each such thread that has run since the call before.
  std::uint64_t count_losses();
  /// Those that live, without those of a sanitizer. No syscall if there were none.
  std::size_t count_unseen() const;

 private:
  struct One {
    pid_t thread = 0;
    std::uint64_t run_ns = 0;
  };
  std::vector<pid_t> at_begin_;  // does not change afterwards
  std::vector<One> threads_;
  bool are_known_ = true;  // which ones they are
  std::uint64_t losses_ = 0;
};

}  // namespace syscost::dispatch
