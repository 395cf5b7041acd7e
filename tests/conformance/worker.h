// SPDX-License-Identifier: MIT
//
// Worker: a thread that starts and ends outside the window and works inside it.
#pragma once

#include <atomic>
#include <thread>

#include "raw.h"

namespace conformance {

/// A thread that waits for its cue on memory, runs `work` and waits for the end on memory: no syscall that `work` does
/// not make falls between start and end.
class Worker {
 public:
  explicit Worker(void (*work)())
      : thread_([this, work] {
          tid_ = static_cast<int>(raw(SYS_gettid));
          spin_until([this] { return go_.load(std::memory_order_acquire); });
          work();
          done_.store(true, std::memory_order_release);
          spin_until([this] { return leave_.load(std::memory_order_acquire); });
        }) {
    spin_until([this] { return tid_.load(std::memory_order_acquire) != 0; });
  }
  ~Worker() {
    go_ = true;
    leave_ = true;
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int tid() const { return tid_; }
  void go() { go_.store(true, std::memory_order_release); }
  void wait() const {
    spin_until([this] { return done_.load(std::memory_order_acquire); });
  }

 private:
  std::atomic<int> tid_{0};
  std::atomic<bool> go_{false};
  std::atomic<bool> done_{false};
  std::atomic<bool> leave_{false};
  std::thread thread_;
};

}  // namespace conformance
