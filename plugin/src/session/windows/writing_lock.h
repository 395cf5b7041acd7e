// SPDX-License-Identifier: MIT
//
// WritingLock: the lock of the thread that writes rows to the file. A window that would count its calls waits for it.
//
// It is mostly held for microseconds, and a waiter spins, because sleeping would enter the kernel. But the thread that
// writes rows may have to wait for the lock of the file, and another test program may hold that lock for long. Then
// waiters that are in no window sleep.
#pragma once

#include <atomic>
#include <ctime>

#include "os/spin_lock.h"

namespace syscost::session {

class WritingLock {
 public:
  /// Where the calling thread is.
  enum class Waiter {
    inside_window,   ///< Never enters the kernel.
    outside_window,  ///< Sleeps while the holder is at the file.
  };

  void lock(Waiter waiter) {
    while (!try_lock()) {
      if (waiter == Waiter::outside_window && is_at_file_.load(std::memory_order_relaxed)) {
        // Polled, because waking a sleeper would be a system call of the holder, who may have opened a window.
        const timespec pause{0, 100'000};
        nanosleep(&pause, nullptr);
      } else {
        relax_cpu();
      }
    }
  }
  bool try_lock() { return lock_.try_lock(); }
  /// For the end of the process: false if the lock is not free within a second. The holder may be an interrupted
  /// function of this thread, which never continues.
  bool lock_within_a_second() {
    return becomes_true_within_a_second([this] { return try_lock(); });
  }
  template <class Condition>
  static bool becomes_true_within_a_second(Condition is_met) {
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries; ++i) {
      if (is_met()) return true;
      const timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
    }
    return false;
  }
  /// The holder calls it before it uses the file, which enters the kernel and may take long.
  void enter_file() { is_at_file_.store(true, std::memory_order_relaxed); }
  void unlock() {
    is_at_file_.store(false, std::memory_order_relaxed);
    lock_.unlock();
  }

 private:
  SpinLock lock_;
  std::atomic<bool> is_at_file_{false};
};

}  // namespace syscost::session
