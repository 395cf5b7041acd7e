// SPDX-License-Identifier: MIT
//
// A lock that never enters the kernel.
//
// Windows open and close inside other windows. A contended std::mutex calls futex, and that call would be charged to
// the user's test. The sections under this lock take a few microseconds, so waiters spin.
#pragma once

#include <atomic>

namespace syscost {

/// Tells the processor that this is a waiting loop.
inline void relax_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Satisfies BasicLockable. Not recursive; not for signal handlers.
class SpinLock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) {
      while (locked_.load(std::memory_order_relaxed)) relax_cpu();
    }
  }
  bool try_lock() {
    return !locked_.load(std::memory_order_relaxed) && !locked_.exchange(true, std::memory_order_acquire);
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace syscost
