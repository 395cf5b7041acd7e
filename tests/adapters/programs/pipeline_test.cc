// SPDX-License-Identifier: MIT
//
// Threads that wait for each other in one order only. Each wakes the next one when that one is blocked, so that the
// critical path is known: creator, writer, reader, a timer, reader, main, another process, main.
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "syscost/loop.h"

namespace {

/// Returns when the thread is blocked in the syscall: the kernel says so.
void await_blocked(const std::string& process, int thread, long number) {
  const std::string path = "/proc/" + process + "/task/" + std::to_string(thread) + "/syscall";
  const std::string wanted = std::to_string(number) + " ";
  for (std::string line; line.rfind(wanted, 0) != 0; sched_yield()) {
    std::ifstream file(path);
    std::getline(file, line);
  }
}

void sleep_by_the_kernel() {
  const timespec duration{0, 1'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

/// The threads end after the test: if it joined them, it would wait for the last of them, which is on a busy machine
/// another one each time.
class Pipeline : public testing::Test {
 protected:
  static void TearDownTestSuite() {
    for (std::thread* thread : {&reader_, &writer_}) {
      if (thread->joinable()) thread->join();
    }
  }

  static inline std::thread reader_;
  static inline std::thread writer_;
  static inline std::array<int, 2> letters_{};
  static inline std::array<int, 2> answers_{};
  static inline std::atomic<int> is_done_{0};
  static inline std::atomic<int> reader_thread_{0};
};

TEST_F(Pipeline, WaitsInOneOrder) {
  ASSERT_EQ(pipe(letters_.data()), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, answers_.data()), 0);
  const int main_thread = gettid();
  is_done_ = 0;
  reader_thread_ = 0;
  reader_ = std::thread([main_thread] {
    prctl(PR_SET_NAME, "reader");
    reader_thread_ = gettid();
    char letter = 0;
    EXPECT_EQ(read(letters_[0], &letter, 1), 1);
    sleep_by_the_kernel();
    await_blocked("self", main_thread, SYS_futex);
    is_done_ = 1;
    syscall(SYS_futex, &is_done_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  });
  writer_ = std::thread([] {
    prctl(PR_SET_NAME, "writer");
    while (reader_thread_ == 0) sched_yield();
    await_blocked("self", reader_thread_, SYS_read);
    EXPECT_EQ(write(letters_[1], "x", 1), 1);
  });
  while (is_done_ == 0) syscall(SYS_futex, &is_done_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  const std::string own_process = std::to_string(getpid());
  const pid_t child = fork();
  if (child == 0) {
    await_blocked(own_process, main_thread, SYS_recvfrom);
    _exit(send(answers_[1], "x", 1, 0) == 1 ? 0 : 1);
  }
  char answer = 0;
  EXPECT_EQ(recv(answers_[0], &answer, 1, 0), 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Pipeline, HasNoWait) {
  EXPECT_GT(getpid(), 0);
}

TEST_F(Pipeline, HasALoop) {
  for (auto it : syscost::loop("yield")) sched_yield();
}

}  // namespace
