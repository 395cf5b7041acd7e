// SPDX-License-Identifier: MIT
//
// pthread_cancel finds a thread anywhere: before a call, on its way through the stub, blocked in it, after it.
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
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

void* wait_for_ever(void* argument) {
  auto& blocking = *static_cast<Blocking*>(argument);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  blocking.is_there = true;
  pthread_mutex_lock(&mutex);
  for (;;) pthread_cond_wait(&condition, &mutex);
}

/// A file in which each read moves the offset by one, so that the offset says how many reads the kernel has made.
class CountedReads {
 public:
  CountedReads() {
    if (ftruncate(file_, 1 << 30) != 0) ADD_FAILURE();
  }
  ~CountedReads() { close(file_); }
  CountedReads(const CountedReads&) = delete;
  CountedReads& operator=(const CountedReads&) = delete;

  std::uint64_t made() const { return static_cast<std::uint64_t>(lseek(file_, 0, SEEK_CUR)); }
  /// Cancelled between any two instructions, ours too.
  static void* read_for_ever(void* argument) {
    const auto& self = *static_cast<const CountedReads*>(argument);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
    char byte = 0;
    self.has_begun_ = true;
    for (;;) {
      if (read(self.file_, &byte, 1) != 1) return nullptr;
    }
  }
  bool has_begun() const { return has_begun_; }

 private:
  int file_ = memfd_create("counted", 0);
  mutable std::atomic<bool> has_begun_{false};
};

class Cancel : public testing::TestWithParam<Patching> {
 protected:
  std::uint64_t count_reads(void (*body)()) { return opened_.count(SYS_read, body); }

  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own for threads that end";
    ASSERT_NE(opened_.backend, nullptr);
    alarm(60);
  }
  void TearDown() override { alarm(0); }

 private:
  OpenedDispatch opened_{GetParam()};
};

TEST_P(Cancel, EndsAThreadThatReads) {
  cancel_many(read_for_ever);
}

TEST_P(Cancel, EndsAThreadThatWaitsUnderAMask) {
  cancel_many(poll_for_ever);
}

TEST_P(Cancel, EndsAThreadThatWaitsForACondition) {
  cancel_many(wait_for_ever);
}

TEST_P(Cancel, EndsAThreadThatCallsAllTheTime) {
  cancel_many(call_for_ever);
}

TEST_P(Cancel, LosesNoReadOfAThreadThatIsCancelledAnywhere) {
  static std::uint64_t made;
  made = 0;
  const std::uint64_t counted = count_reads([] {
    constexpr int kThreads = 60;
    for (int i = 0; i < kThreads; ++i) {
      CountedReads reads;
      pthread_t thread = {};
      ASSERT_EQ(pthread_create(&thread, nullptr, CountedReads::read_for_ever, &reads), 0);
      while (!reads.has_begun()) __builtin_ia32_pause();
      for (int spin = 0; spin < i * 50; ++spin) __builtin_ia32_pause();
      ASSERT_EQ(pthread_cancel(thread), 0);
      void* result = nullptr;
      ASSERT_EQ(pthread_join(thread, &result), 0);
      ASSERT_EQ(result, PTHREAD_CANCELED);
      made += reads.made();
    }
  });
  EXPECT_GT(made, 0U);
  EXPECT_EQ(counted, made);
}

INSTANTIATE_TEST_SUITE_P(Dispatch, Cancel, testing::Values(Patching::allowed, Patching::never),
                         [](const auto& one) { return one.param == Patching::allowed ? "Patched" : "Trapped"; });

}  // namespace
}  // namespace syscost::dispatch
