// SPDX-License-Identifier: MIT
//
// A test that starts a thread, which does the work, and waits for it.
//
// A tracer that follows one thread sees main sit in futex and reports a program that waits; the worker's 1500 calls are
// missing. The test's window holds all threads; a scope of the calling thread, the default, shows what the one-thread
// view would have been.
// README.md walks through it.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "syscost/syscost.h"

namespace {

constexpr int kWorkerCalls = 1500;

/// 1500 reads of nothing from a descriptor that cannot be read: quick, and each one a trip into the kernel.
void work() {
  for (int i = 0; i < kWorkerCalls; ++i) syscall(SYS_read, -1, nullptr, 0);
}

TEST(ThreadJoin, WorkerDoesTheWork) {
  std::thread worker(work);
  worker.join();
}

TEST(ThreadJoin, SeenFromTheWaitingThreadOnly) {
  syscost::Scope scope("main thread");
  std::thread worker(work);
  worker.join();
  syscost::Cost seen_by_main = scope.stop();
  EXPECT_EQ(seen_by_main.calls("read"), 0) << seen_by_main;
}

TEST(ThreadJoin, SeenFromTheWholeProcess) {
  syscost::Scope scope("all threads", syscost::Reach::process);
  std::thread worker(work);
  worker.join();
  syscost::Cost seen_by_all = scope.stop();
  EXPECT_EQ(seen_by_all.calls("read"), kWorkerCalls) << seen_by_all;
}

}  // namespace
