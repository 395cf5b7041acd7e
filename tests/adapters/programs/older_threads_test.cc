// SPDX-License-Identifier: MIT
//
// Threads that were there before the first fault of the program: those of a suite, and one that is older than main().
// Tests that are expected to fail are in `Forbidden`, `Refused` and `Lost`.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "syscost/faults.h"
#include "syscost/gtest.h"

namespace {

/// The errno of a write to /dev/null; 0 for success.
int write_error(int null) {
  return write(null, "x", 1) == 1 ? 0 : errno;
}

/// A thread that writes once for each question.
class Worker {
 public:
  ~Worker() {
    is_over_ = true;
    thread_.join();
    close(null_);
  }
  int write_error() {
    is_done_ = false;
    is_asked_ = true;
    while (!is_done_) std::this_thread::yield();
    return error_;
  }

 private:
  void run() {
    while (!is_over_) {
      if (is_asked_.exchange(false)) {
        error_ = ::write_error(null_);
        is_done_ = true;
      }
      std::this_thread::yield();
    }
  }

  int null_ = open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::atomic<bool> is_asked_{false}, is_done_{false}, is_over_{false};
  std::atomic<int> error_{0};
  std::thread thread_{[this] { run(); }};
};

/// A library's, for example.
const std::unique_ptr<Worker> kOlderThanMain =
    std::getenv("TEST_OLDER_THREAD") != nullptr ? std::make_unique<Worker>() : nullptr;

class OfASuite : public testing::Test {
 protected:
  static void SetUpTestSuite() { worker_ = std::make_unique<Worker>(); }
  static void TearDownTestSuite() { worker_.reset(); }
  static std::unique_ptr<Worker> worker_;
};
std::unique_ptr<Worker> OfASuite::worker_;

class Forbidden : public OfASuite {};
TEST_F(Forbidden, ToTheWorkerOfTheSuite) {
  syscost::Forbid forbid("write", syscost::Reach::process);
  worker_->write_error();
}

class Reached : public OfASuite {};
TEST_F(Reached, TheWorkerOfTheSuite) {
  syscost::Fault fault("write", ENOSPC, syscost::each(), syscost::Reach::process);
  EXPECT_EQ(worker_->write_error(), ENOSPC);
  EXPECT_EQ(fault.hits(), 1U);
}

TEST_F(Reached, EachThreadByItsOwnFault) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
      syscost::Fault fault("write", EIO, syscost::nth(1));
      if (!fault.is_active() || write_error(null) != EIO) ++wrong;
      close(null);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Older, OneThreadMayBeTestedAllTheSame) {
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  syscost::Fault fault("write", EIO);
  EXPECT_EQ(write_error(null), EIO);
  EXPECT_NO_SYSCALLS("lseek", write_error(null));
  close(null);
}
TEST(Older, Writes) {
  kOlderThanMain->write_error();
}
TEST(Older, IsForbiddenToWrite) {
  syscost::Forbid forbid("write", syscost::Reach::process);
  kOlderThanMain->write_error();
}
TEST(Older, MeetsAFault) {
  syscost::Fault fault("write", EIO, syscost::each(), syscost::Reach::process);
  EXPECT_EQ(kOlderThanMain->write_error(), EIO) << "it went on";
}

TEST(Lost, WithAFaultOfWrite) {
  syscost::Fault fault("write", ENOSPC);
  EXPECT_EQ(write_error(-1), EBADF) << "why it failed";
  EXPECT_EQ(fault.hits(), 1U) << "what was printed was hit";
}
TEST(Lost, WhereWriteIsForbidden) {
  syscost::Forbid forbid("write");
  ADD_FAILURE() << "why it failed";
}

}  // namespace
