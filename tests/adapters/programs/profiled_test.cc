// SPDX-License-Identifier: MIT
//
// Tests that another tool looks at, each making a known number of getppid calls in a way that could lose some: in a
// moment, on many threads, beside a child that makes them too, before a crash. The driver is profile_test.py.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "syscost/gtest.h"

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

/// True when SYSCOST_TEST_BODY asks for a body that ends the program.
bool wants(const char* what) {
  const char* variable = std::getenv("SYSCOST_TEST_BODY");
  return variable != nullptr && std::strcmp(variable, what) == 0;
}

TEST(Profiled, LastsAMillisecond) {
  const auto begin = std::chrono::steady_clock::now();
  call(7);
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1)) {
  }
  call(6);
}

TEST(Profiled, HasSixteenThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back([] { call(1000); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Profiled, Forks) {
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      call(1000);
      _exit(0);
    }
    call(50);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
}

TEST(Profiled, WaitsForAnyChild) {
  call(1);
  ASSERT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "there is a child that no test has started";
}

TEST(Profiled, MakesAnotherCall) {
  for (int i = 0; i < 3; ++i) syscall(SYS_getuid);
}

TEST(Profiled, Ends) {
  call(3);
  if (wants("abort")) std::abort();
  if (wants("kill")) std::raise(SIGKILL);
  if (wants("exit")) std::_Exit(5);
}

TEST(Profiled, Loops) {
  for (auto it : syscost::loop("getppid")) call(2);
}

}  // namespace
