// SPDX-License-Identifier: MIT
//
// Changes in how threads wait and work. The script runs these tests in a process of their own, because threads leave
// the heap as chance has it. Above each test: the public project that made the change, and the change.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "form.h"

namespace directions {
namespace {

using std::chrono::milliseconds;

/// Works for 25 ms without a syscall.
void work() {
  const auto end = std::chrono::steady_clock::now() + milliseconds(25);
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// A worker makes five results. The test waits for each, by a condition variable or by looking once a millisecond.
void wait_for_results(bool polls) {
  std::mutex mutex;
  std::condition_variable changed;
  int made = 0;
  std::thread worker([&] {
    for (int i = 0; i < 5; ++i) {
      work();
      const std::lock_guard lock(mutex);
      ++made;
      changed.notify_one();
    }
  });
  for (int wanted = 1; wanted <= 5; ++wanted) {
    std::unique_lock lock(mutex);
    if (!polls) {
      changed.wait(lock, [&] { return made >= wanted; });
      continue;
    }
    while (made < wanted) {
      lock.unlock();
      std::this_thread::sleep_for(milliseconds(1));
      lock.lock();
    }
  }
  worker.join();
}

// A user of syscost: a loop that sleeps in the place of a condition variable.
TEST(Threads, PollInThePlaceOfACondition) {
  wait_for_results(is_new());
}

// ggml-org/llama.cpp 4673: a condition variable in the place of a loop that sleeps.
TEST(Threads, ConditionInThePlaceOfAPoll) {
  wait_for_results(!is_new());
}

// joexbayer/c-web-modules 9: four threads take the requests, each of which had a thread of its own.
TEST(Threads, PoolInThePlaceOfThreads) {
  const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::atomic<int> left = 24;
  std::vector<std::thread> threads;
  for (int i = 0; i < (is_new() ? 4 : 24); ++i) {
    threads.emplace_back([&] {
      if (!is_new()) return write_all(file, "x");
      while (left.fetch_sub(1) > 0) write_all(file, "x");
    });
  }
  for (std::thread& one : threads) one.join();
  close(file);
}

}  // namespace
}  // namespace directions
