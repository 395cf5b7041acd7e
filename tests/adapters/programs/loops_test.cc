// SPDX-License-Identifier: MIT
//
// Loops of every shape, each call of a body making a known number of getppid calls. The driver (loop_test.py) runs the
// program and looks at the rows.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "assistant.h"
#include "syscost/gtest.h"

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

TEST(Loop, CountsEachCallOfTheBody) {
  call(2);
  for (auto it : syscost::loop("three")) call(3);
  call(5);
}

TEST(Loop, HasALineBreakInItsName) {
  for (auto it : syscost::loop("two\nlines")) call(1);
}

TEST(Loop, HasNoSyscallsOfItsOwn) {
  unsigned sum = 0;
  for (auto it : syscost::loop("empty")) syscost::do_not_optimize(sum++);
}

TEST(Loop, HasAColdFirstCall) {
  bool is_first = true;
  for (auto it : syscost::loop("cold")) {
    if (is_first) usleep(30000);
    is_first = false;
    call(1);
  }
}

TEST(Loop, SeveralInOneTest) {
  for (auto it : syscost::loop("one")) call(1);
  for (auto it : syscost::loop("two")) call(2);
}

TEST(Loop, SeesThreadsOfTheBody) {
  for (auto it : syscost::loop("threads")) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([] { call(2); });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Loop, CanBeLeftByBreak) {
  call(1);
  int calls = 0;
  for (auto it : syscost::loop("broken")) {
    call(1);
    if (++calls == 7) break;
  }
  call(1);
}

TEST(Loop, CanBeLeftByAnException) {
  int calls = 0;
  const auto run = [&] {
    for (auto it : syscost::loop("thrown")) {
      call(1);
      if (++calls == 3) throw std::runtime_error("on purpose");
    }
  };
  EXPECT_THROW(run(), std::runtime_error);
  call(4);
}

/// Ends the process in the way that SYSCOST_TEST_ENDS names.
void end_process() {
  const char* variable = std::getenv("SYSCOST_TEST_ENDS");
  const std::string how = variable != nullptr ? variable : "";
  if (how == "exit 0") std::exit(0);
  if (how == "exit 3") std::exit(3);
  if (how == "quick_exit") std::quick_exit(0);
  // The loop's thread waits in its body, outside of any pass's end, until it is gone.
  if (how == "exit elsewhere") std::thread([] { std::exit(0); }).join();
}

TEST(Loop, MayEndTheProcess) {
  const char* at = std::getenv("SYSCOST_TEST_ENDS_AT");
  const int last = at != nullptr ? std::atoi(at) : 0;
  call(2);
  int calls = 0;
  for (auto it : syscost::loop("ended")) {
    call(3);
    if (++calls == last) end_process();
  }
  call(1);
  if (last == 0) end_process();
}

TEST(Loop, InsideAnotherRunsItsBodyOnce) {
  int inner = 0;
  int outer = 0;
  for (auto it : syscost::loop("outer")) {
    ++outer;
    for (auto in : syscost::loop("inner")) {
      ++inner;
      call(1);
    }
  }
  EXPECT_EQ(inner, outer);
}

TEST(Loop, ForksInItsBody) {
  for (auto it : syscost::loop("forks")) {
    const pid_t child = fork();
    if (child == 0) {
      call(9);  // not the parent's
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    call(1);
  }
}

TEST(Loop, MeasuresInItsBody) {
  int calls = 0;
  int counted = 0;
  for (auto it : syscost::loop("measures")) {
    ++calls;
    EXPECT_SYSCALLS_EQ("getppid", 2, call(2));
    const syscost::Cost cost = syscost::measure([] { call(3); }, syscost::Reach::process);
    if (cost.calls("getppid").value_or(0) == 3) ++counted;
  }
  EXPECT_EQ(counted, calls);
}

TEST(Loop, MeasuresInALaterCallOfItsBody) {
  int calls = 0;
  for (auto it : syscost::loop("later")) {
    call(1);
    if (++calls != 13) continue;
    EXPECT_SYSCALLS_EQ("getppid", 2, call(2));
  }
}

/// On a thread that the body starts.
void assert_on_a_thread(int calls_made) {
  std::thread([calls_made] { EXPECT_SYSCALLS_EQ("getppid", 2, call(calls_made)); }).join();
}

TEST(Loop, AssertsOnAThreadOfItsBody) {
  for (auto it : syscost::loop("thread")) assert_on_a_thread(2);
}

TEST(Loop, AssertsWhatIsWrongOnAThreadOfItsBody) {
  for (auto it : syscost::loop("wrong")) assert_on_a_thread(3);
}

TEST(Loop, AThreadBesideItAsserts) {
  std::atomic<int> wanted{0};
  std::atomic<int> done{0};
  std::thread beside([&] {
    for (int i = 1; i <= 2; ++i) {
      while (wanted < i) std::this_thread::yield();
      EXPECT_SYSCALLS_EQ("getppid", 2, call(2));
      done = i;
    }
  });
  int calls = 0;
  for (auto it : syscost::loop("beside")) {
    call(1);
    if (++calls % 13 != 0 || calls > 26) continue;
    ++wanted;
    while (done < wanted) std::this_thread::yield();
  }
  wanted = 2;
  beside.join();
}

TEST(Loop, InsideAScopeIsCountedAndNotTimed) {
  syscost::Scope scope("around");
  for (auto it : syscost::loop("inside")) call(1);
  const syscost::Cost cost = scope.stop();
  std::printf("around: %s\n", cost.to_string().c_str());
}

// The scopes do not have the calls that syscost makes between the passes. The process has calls of another thread then.
TEST(Loop, InsideScopesOfBothReaches) {
  std::atomic<int> stage{-1};
  std::thread beside([&stage] {
    stage.store(0);
    while (stage.load() == 0) {
    }
    for (int i = 0; i < 20'000; ++i) getpgrp();
    stage.store(2);
    while (stage.load() == 2) {
    }
  });
  while (stage.load() != 0) {
  }
  {
    const syscost::Scope process("process", syscost::Reach::process);
    const syscost::Scope thread("thread", syscost::Reach::thread);
    stage.store(1);
    for (auto it : syscost::loop("inside")) call(1);
    while (stage.load() == 1) {
    }
  }
  stage.store(3);
  beside.join();
}

// Their scope sees the end of one test and the beginning of the next.
class FromTestToTest : public ::testing::Test {
 protected:
  static std::unique_ptr<syscost::Scope> scope_;
};
std::unique_ptr<syscost::Scope> FromTestToTest::scope_;

TEST_F(FromTestToTest, Begins) {
  scope_ = std::make_unique<syscost::Scope>("between", syscost::Reach::process);
  call(1);
}
TEST_F(FromTestToTest, Ends) {
  call(1);
  scope_.reset();
}

// A thread that was in the kernel when the backend went off, and is in another call when it comes on again.
TEST(Loop, AThreadGoesOnWhileTheBackendIsOff) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::array<int, 2> back{};
  ASSERT_EQ(pipe(back.data()), 0);
  // The Assistant checks whether the thread blocks. It makes no call that is counted.
  conformance::Assistant assistant;
  std::atomic<pid_t> tid{0};
  std::atomic<bool> is_at_last_read{false};
  std::thread thread([&] {
    char byte = 0;
    tid = gettid();
    EXPECT_EQ(read(ends[0], &byte, 1), 1);       // enters in the test, ends while nothing is attached
    EXPECT_EQ(pread(ends[0], &byte, 1, 0), -1);  // no backend sees it
    is_at_last_read = true;
    EXPECT_EQ(read(back[0], &byte, 1), 1);  // enters while nothing is attached, ends in the test
    call(1);
  });
  while (tid == 0) continue;
  assistant.when_blocked(tid, SYS_read);
  assistant.wait();
  bool is_first = true;
  for (auto it : syscost::loop("meanwhile")) {
    if (is_first) {
      is_first = false;
      EXPECT_EQ(write(ends[1], "x", 1), 1);
      while (!is_at_last_read) continue;
      assistant.when_blocked(tid, SYS_read);
      assistant.wait();
    }
  }
  EXPECT_EQ(write(back[1], "x", 1), 1);
  thread.join();
  for (int fd : {ends[0], ends[1], back[0], back[1]}) close(fd);
}

TEST(Loop, WithManySyscalls) {
  for (auto it : syscost::loop("mixed")) {
    call(1);
    EXPECT_EQ(syscall(SYS_close, -1), -1);
  }
}

}  // namespace
