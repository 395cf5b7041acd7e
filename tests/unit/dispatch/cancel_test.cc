// SPDX-License-Identifier: MIT
//
// pthread_cancel finds a thread anywhere: before a call, on its way through the stub, blocked in it, after it.
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "opened.h"

namespace syscost::dispatch {
namespace {

struct Blocking {
  std::array<int, 2> pipe = {-1, -1};
  std::atomic<bool> is_there{false};
};

void* read_for_ever(void* argument) {
  auto& blocking = *static_cast<Blocking*>(argument);
  char byte = 0;
  blocking.is_there = true;
  for (;;) {
    if (read(blocking.pipe[0], &byte, 1) != 0) continue;
  }
}

void* poll_for_ever(void* argument) {
  auto& blocking = *static_cast<Blocking*>(argument);
  pollfd waits = {blocking.pipe[0], POLLIN, 0};
  sigset_t none;
  sigemptyset(&none);
  blocking.is_there = true;
  for (;;) ppoll(&waits, 1, nullptr, &none);
}

void* call_for_ever(void* argument) {
  auto& blocking = *static_cast<Blocking*>(argument);
  blocking.is_there = true;
  for (;;) {
    char nothing = 0;
    if (write(-1, &nothing, 1) == 0) return nullptr;
  }
}

/// Cancels threads after a while that grows from one to the next, so that each place is met.
void cancel_many(void* (*body)(void*)) {
  constexpr int kThreads = 40;
  for (int i = 0; i < kThreads; ++i) {
    Blocking blocking;
    ASSERT_EQ(pipe(blocking.pipe.data()), 0);
    pthread_t thread = {};
    ASSERT_EQ(pthread_create(&thread, nullptr, body, &blocking), 0);
    while (!blocking.is_there) __builtin_ia32_pause();
    for (int spin = 0; spin < i * 75; ++spin) __builtin_ia32_pause();
    ASSERT_EQ(pthread_cancel(thread), 0);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
    for (const int end : blocking.pipe) close(end);
  }
}

class Cancel : public testing::TestWithParam<Patching> {
 protected:
  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own for threads that end";
    ASSERT_NE(opened_.backend, nullptr);
    // Reached once, the sites that are used are patched.
    call_once();
    ASSERT_TRUE(opened_.backend->hidden_losses().ok());
    alarm(60);
  }
  void TearDown() override { alarm(0); }

 private:
  static void call_once() {
    pollfd nothing = {-1, 0, 0};
    timespec no_time = {};
    sigset_t none;
    sigemptyset(&none);
    ppoll(&nothing, 1, &no_time, &none);
    char byte = 0;
    if (read(-1, &byte, 1) + write(-1, &byte, 1) != -2) ADD_FAILURE();
  }

  OpenedDispatch opened_{GetParam()};
};

TEST_P(Cancel, EndsAThreadThatReads) {
  cancel_many(read_for_ever);
}

TEST_P(Cancel, EndsAThreadThatWaitsUnderAMask) {
  cancel_many(poll_for_ever);
}

TEST_P(Cancel, EndsAThreadThatCallsAllTheTime) {
  cancel_many(call_for_ever);
}

INSTANTIATE_TEST_SUITE_P(Dispatch, Cancel, testing::Values(Patching::allowed, Patching::never),
                         [](const auto& one) { return one.param == Patching::allowed ? "Patched" : "Trapped"; });

}  // namespace
}  // namespace syscost::dispatch
