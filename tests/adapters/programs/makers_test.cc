// SPDX-License-Identifier: MIT
//
// Known numbers of calls by the thread of a test, by threads that the test starts, and by older threads. Each test has
// the same numbers; only in `Makers.Again` the threads of the test before have become older ones.
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "syscost/gtest.h"

namespace {

void ask_parent(int times) {
  for (int i = 0; i < times; ++i) getppid();
}

/// A thread that makes calls when it is told to.
class Worker {
 public:
  ~Worker() {
    is_over_ = true;
    thread_.join();
  }
  void make_calls(int times) {
    asked_ = times;
    while (asked_ != 0) std::this_thread::yield();
  }

 private:
  void run() {
    while (!is_over_) {
      if (const int times = asked_; times != 0) {
        ask_parent(times);
        asked_ = 0;
      }
      std::this_thread::yield();
    }
  }

  std::atomic<int> asked_{0};
  std::atomic<bool> is_over_{false};
  std::thread thread_{[this] { run(); }};
};

class Makers : public testing::Test {
 protected:
  static void SetUpTestSuite() { older_.push_back(std::make_unique<Worker>()); }
  static void TearDownTestSuite() { older_.clear(); }

  static std::vector<std::unique_ptr<Worker>> older_;
};
std::vector<std::unique_ptr<Worker>> Makers::older_;

TEST_F(Makers, AreThree) {
  ask_parent(3);
  older_[0]->make_calls(5);
  std::thread([] { ask_parent(7); }).join();
  std::thread([] { ask_parent(11); }).join();
  ask_parent(1);
  older_.push_back(std::make_unique<Worker>());
  older_[1]->make_calls(13);
}

TEST_F(Makers, Again) {
  if (older_.size() == 2) older_[1]->make_calls(17);
  std::thread([] { ask_parent(19); }).join();
}

TEST_F(Makers, HaveScopesOfTheirOwn) {
  {
    const syscost::Scope scope("of a thread");
    ask_parent(2);
    older_[0]->make_calls(9);
  }
  std::thread([] {
    const syscost::Scope scope("of the process", syscost::Reach::process);
    const syscost::Cost cost = syscost::measure([] { ask_parent(6); });
    ask_parent(2);
  }).join();
  ask_parent(4);
}

/// An older thread ends, and another one may get its place before the test is over.
TEST_F(Makers, AnOlderOneEndsAndANewOneBegins) {
  while (!older_.empty()) {
    older_.back()->make_calls(23);
    older_.pop_back();
  }
  for (int i = 0; i < 10; ++i) std::thread([] { ask_parent(1); }).join();
  older_.push_back(std::make_unique<Worker>());
}

}  // namespace
