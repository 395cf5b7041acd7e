// SPDX-License-Identifier: MIT
//
// A report made by a pipeline of threads: parts are fetched, parsed and summed up, and a checksum is made beside it.
#pragma once

#include <sys/prctl.h>

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <mutex>
#include <thread>

namespace demo {

inline constexpr int kParts = 3;

/// Hands numbers of parts from threads to threads.
class Queue {
 public:
  void put(int part) {
    const std::lock_guard guard(mutex_);
    parts_.push_back(part);
    filled_.notify_one();
  }
  int take() {
    std::unique_lock guard(mutex_);
    filled_.wait(guard, [this] { return !parts_.empty(); });
    const int part = parts_.front();
    parts_.pop_front();
    return part;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<int> parts_;
};

/// Uses so much time of a CPU.
inline void compute(std::chrono::nanoseconds amount) {
  const auto used = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto end = used() + amount;
  while (used() < end) {
  }
}

/// As a server that answers after 100 ms.
inline void fetch() {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

inline std::thread start(const char* name, auto work) {
  return std::thread([name, work] {
    prctl(PR_SET_NAME, name);
    work();
  });
}

}  // namespace demo
