// SPDX-License-Identifier: MIT
//
// for_each_failure: functions with known faults, and what the sweep must say of each failure.
#include "syscost/failures.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "syscost/gtest.h"

namespace {

using syscost::AfterFailure;
using syscost::for_each_failure;
using syscost::Sweep;

std::string path() {
  static const std::string made = testing::TempDir() + "failures." + std::to_string(getpid());
  return made;
}

bool handled() {
  const int file = open(path().c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool is_written = write(file, "text", 4) == 4 && fsync(file) == 0;
  return close(file) == 0 && is_written;
}

bool leaking() {
  const int file = open(path().c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return false;
  if (write(file, "text", 4) != 4) return false;
  return close(file) == 0;
}

class Failures : public testing::Test {
 protected:
  ~Failures() override { unlink(path().c_str()); }
};

const char* const kCalls = "%file,write,fsync,close";

TEST_F(Failures, HandledIsClean) {
  const Sweep sweep = for_each_failure(kCalls, handled);
  EXPECT_TRUE(sweep.is_clean()) << sweep;
  // openat and write have two errors each, fsync and close one.
  EXPECT_EQ(sweep.failures.size(), 6U) << sweep;
  EXPECT_EQ(sweep.count(AfterFailure::reported), 6U) << sweep;
  EXPECT_FAILURES_HANDLED(kCalls, handled());
}

TEST_F(Failures, AnExceptionIsAReport) {
  const Sweep sweep = for_each_failure("write", [] {
    if (!handled()) throw std::runtime_error("no room");
  });
  ASSERT_EQ(sweep.failures.size(), 2U);
  EXPECT_EQ(sweep.count(AfterFailure::reported), 2U);
  EXPECT_EQ(sweep.failures[0].detail, "no room");
}

TEST_F(Failures, EveryCallFailsInItsTurn) {
  int calls = 0;
  syscost::SweepOptions options;
  options.errors = {EINTR};
  options.isolates = false;  // `calls` is read here
  options.prepare = [&] { calls = 0; };
  const Sweep sweep = for_each_failure(
      "lseek",
      [&] {
        for (int i = 0; i < 4; ++i) calls += lseek(STDERR_FILENO, 0, SEEK_CUR) == -1 && errno == EINTR ? 1 << i : 0;
        return true;
      },
      options);
  ASSERT_EQ(sweep.failures.size(), 4U) << sweep;
  EXPECT_EQ(sweep.failures[3].nth, 4U);
  EXPECT_EQ(calls, 1 << 3);
  EXPECT_EQ(sweep.count(AfterFailure::survived), 4U);
}

TEST_F(Failures, ALostPromiseIsSaidSuccess) {
  syscost::SweepOptions options;
  options.prepare = [] { unlink(path().c_str()); };
  options.promise = [] {
    char text[8] = {};
    const int file = open(path().c_str(), O_RDONLY | O_CLOEXEC);
    const bool is_there = file >= 0 && read(file, text, sizeof text) == 4;
    close(file);
    return is_there;
  };
  const Sweep sweep = for_each_failure(
      "openat,write,close",
      [] {
        handled();  // its result is not looked at
        return true;
      },
      options);
  EXPECT_EQ(sweep.count(AfterFailure::said_success), 4U) << sweep;  // of openat and write
  EXPECT_EQ(sweep.count(AfterFailure::survived), 1U) << sweep;      // the text is there although close() failed
}

TEST_F(Failures, ABrokenInvariantComesFirst) {
  syscost::SweepOptions options;
  options.invariant = [] { return false; };
  EXPECT_EQ(for_each_failure("fsync", handled, options).count(AfterFailure::broken), 1U);
}

TEST_F(Failures, LeaksAreFound) {
  const Sweep sweep = for_each_failure("%file,write,close", leaking);
  EXPECT_EQ(sweep.count(AfterFailure::leaked), 2U) << sweep;
  EXPECT_FALSE(sweep.is_clean());
}

TEST_F(Failures, ALeakThatIsAlwaysThereIsSaidOnce) {
  const auto always = [](bool (*body)()) {
    [[maybe_unused]] const int left = dup(STDERR_FILENO);
    return body();
  };
  const Sweep sweep = for_each_failure(kCalls, [&] { return always(handled); });
  EXPECT_EQ(sweep.count(AfterFailure::leaked), 0U) << sweep;
  EXPECT_EQ(sweep.count(AfterFailure::reported), 6U) << sweep;
  EXPECT_EQ(sweep.left_always.find("descriptor "), 0U) << sweep.left_always;
  EXPECT_FALSE(sweep.is_clean()) << "the body leaks all the same";
  // One more is a leak of the failure.
  EXPECT_EQ(for_each_failure(kCalls, [&] { return always(leaking); }).count(AfterFailure::leaked), 2U);
  // A descriptor that is opened once and kept is no leak.
  static int kept = -1;
  const Sweep once = for_each_failure(kCalls, [] {
    if (kept < 0) kept = dup(STDERR_FILENO);
    return handled();
  });
  EXPECT_TRUE(once.is_clean()) << once;
  close(kept);
}

TEST_F(Failures, ACallThatDoesNotComeIsNoSuccess) {
  int runs = 0;
  const Sweep sweep = for_each_failure("fsync", [&] { return runs++ > 0 || handled(); });
  ASSERT_EQ(sweep.failures.size(), 1U);
  EXPECT_EQ(sweep.failures[0].outcome, AfterFailure::not_reached);
  EXPECT_FALSE(sweep.is_clean());
}

bool write_fails() {
  return write(STDERR_FILENO, "", 0) != 0;
}

syscost::SweepOptions one_error() {
  syscost::SweepOptions options;
  options.errors = {EIO};
  return options;
}

TEST_F(Failures, ACrashAHangAndAnEndAreOutcomes) {
  const auto outcome = [](const auto& what_happens, syscost::SweepOptions options) {
    const Sweep sweep = for_each_failure(
        "write",
        [&] {
          if (write_fails()) what_happens();
        },
        options);
    EXPECT_EQ(sweep.why_not_isolated, "");
    EXPECT_EQ(sweep.failures.size(), 1U) << sweep;
    return sweep.failures.empty() ? syscost::SweptFailure() : sweep.failures[0];
  };
  // A sanitizer takes SIGSEGV for itself, and ends the process with an exit code.
  const syscost::SweptFailure crash = outcome([] { std::abort(); }, one_error());
  EXPECT_EQ(crash.outcome, AfterFailure::crashed);
  EXPECT_NE(crash.detail.find("signal 6"), std::string::npos) << crash.detail;
  const syscost::SweptFailure end = outcome([] { _exit(3); }, one_error());
  EXPECT_EQ(end.outcome, AfterFailure::exited);
  EXPECT_EQ(end.detail, "exit code 3");
  // With exit handlers. LeakSanitizer's finds nothing of syscost.
  EXPECT_EQ(outcome([] { std::exit(3); }, one_error()).detail, "exit code 3");
  syscost::SweepOptions short_limit = one_error();
  short_limit.limit = std::chrono::milliseconds(50);
  const auto wait = [] {
    for (;;) pause();
  };
  EXPECT_EQ(outcome(wait, short_limit).outcome, AfterFailure::hung);
  EXPECT_EQ(outcome([] { throw std::runtime_error("no"); }, one_error()).outcome, AfterFailure::reported);
}

TEST_F(Failures, NothingOfARunStaysInThisProcess) {
  int runs = 0;
  const auto body = [&] {
    ++runs;
    write_fails();
  };
  EXPECT_TRUE(for_each_failure("write", body, one_error()).is_clean());
  EXPECT_EQ(runs, 1);  // the one that learns
  const auto before = signal(SIGCHLD, SIG_IGN);
  EXPECT_TRUE(for_each_failure("write", body, one_error()).is_clean());
  signal(SIGCHLD, before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Failures, MayStartThreads) {
  const Sweep sweep = for_each_failure(
      "write",
      [] {
        std::thread([] { getppid(); }).join();
        return !write_fails();
      },
      one_error());
  EXPECT_EQ(sweep.why_not_isolated, "");
  EXPECT_GT(sweep.count(AfterFailure::reported), 0U) << sweep;
  EXPECT_EQ(sweep.count(AfterFailure::not_reached), 0U) << sweep;
}

TEST_F(Failures, BesideOtherThreadsTheyAreInThisProcess) {
  std::promise<void> ends;
  std::thread other([ended = ends.get_future()] { ended.wait(); });
  int runs = 0;
  const Sweep sweep = for_each_failure(
      "write",
      [&] {
        ++runs;
        write_fails();
      },
      one_error());
  ends.set_value();
  other.join();
  EXPECT_TRUE(sweep.is_clean()) << sweep;
  EXPECT_EQ(runs, 2);
  EXPECT_NE(sweep.why_not_isolated.find("other threads"), std::string::npos);
  EXPECT_NE(testing::PrintToString(sweep).find("the runs were in this process: other threads"), std::string::npos);
}

TEST_F(Failures, MemoryThatStaysIsALeak) {
  const std::uint64_t before = syscost::failure_detail::heap_bytes();
  const std::vector<char> large(100'000);
  if (syscost::failure_detail::heap_bytes() == before) GTEST_SKIP() << "the allocator does not say how much is in use";
  const auto leaks = [] {
    auto* const memory = static_cast<char*>(std::malloc(1000));
    memory[0] = 'x';
    if (write(STDERR_FILENO, memory, 0) != 0) return false;
    std::free(memory);
    return true;
  };
  const Sweep sweep = for_each_failure("write", leaks, one_error());
  ASSERT_EQ(sweep.count(AfterFailure::leaked), 1U) << sweep;
  EXPECT_NE(sweep.failures[0].detail.find(" bytes of the heap"), std::string::npos);
  EXPECT_GE(std::stoi(sweep.failures[0].detail), 1000);
  // A buffer that is made once and kept, and memory that is freed, are none.
  const auto keeps = [] {
    static std::string kept;
    std::string freed(5000, 'x');
    if (!write_fails()) return true;
    if (kept.empty()) kept.assign(2000, 'x');
    freed.append(5000, 'y');
    return false;
  };
  EXPECT_TRUE(for_each_failure("write", keeps, one_error()).is_clean())
      << for_each_failure("write", keeps, one_error());
  // Nor is what grows without a failure, too.
  const auto grows = [] {
    static std::vector<std::unique_ptr<char[]>> all;
    all.push_back(std::make_unique<char[]>(3000));
    return !write_fails();
  };
  EXPECT_TRUE(for_each_failure("write", grows, one_error()).is_clean())
      << for_each_failure("write", grows, one_error());
}

/// The heap keeps freed blocks of small sizes apart, those of 24, 40, ... 1032 bytes each by itself.
TEST_F(Failures, MemoryOfEachSizeIsFound) {
  if (syscost::failure_detail::heap_bytes() == 0) GTEST_SKIP() << "the allocator does not say how much is in use";
  for (const std::size_t bytes : {1, 24, 25, 40, 41, 56, 72, 88, 120, 128, 136, 200, 520, 1032, 1033, 5000}) {
    const auto leaks = [&](bool is_freed) {
      void* lost = std::malloc(bytes);
      __asm__ volatile("" : "+r"(lost) : : "memory");
      // A block that is freed goes to where the other was taken from.
      const std::string other(bytes, 'x');
      const bool fails = write_fails();
      if (is_freed || !fails) std::free(lost);
      return !fails;
    };
    const Sweep sweep = for_each_failure(
        "write", [&] { return leaks(false); }, one_error());
    ASSERT_EQ(sweep.count(AfterFailure::leaked), 1U) << bytes << " bytes: " << sweep;
    EXPECT_GE(std::stoul(sweep.failures[0].detail), bytes);
    EXPECT_LE(std::stoul(sweep.failures[0].detail), bytes + 32);
    const Sweep clean = for_each_failure(
        "write", [&] { return leaks(true); }, one_error());
    EXPECT_TRUE(clean.is_clean()) << bytes << " bytes: " << clean;
  }
}

/// malloc hands out 16 bytes more than are asked for if a free block has them left, for they are too few for a block.
TEST_F(Failures, AsManyBlocksAsWithoutTheFailureAreNoLeak) {
  if (syscost::failure_detail::heap_bytes() == 0) GTEST_SKIP() << "the allocator does not say how much is in use";
  constexpr std::size_t kBytes = 3000;
  constexpr std::size_t kOfEachRun = 4;
  // For some numbers of blocks, runs with the failure take all of them, and runs without it take new memory.
  for (std::size_t larger_free_blocks = 0; larger_free_blocks < 12 * kOfEachRun; ++larger_free_blocks) {
    std::vector<std::unique_ptr<char[]>> around(2 * larger_free_blocks);
    for (std::unique_ptr<char[]>& block : around) block = std::make_unique<char[]>(kBytes + 16);
    for (std::size_t i = 0; i < around.size(); i += 2) around[i].reset();
    std::vector<std::unique_ptr<char[]>> all;
    const auto grows = [&] {
      for (std::size_t i = 0; i < kOfEachRun; ++i) all.push_back(std::make_unique<char[]>(kBytes));
      return !write_fails();
    };
    const Sweep sweep = for_each_failure("write", grows, one_error());
    EXPECT_TRUE(sweep.is_clean()) << larger_free_blocks << " larger free blocks: " << sweep;
  }
}

/// malloc then leaves its heap, and loses some bytes of its own. A sanitizer's allocator maps memory, and may end the
/// process.
TEST_F(Failures, AHeapThatCannotGrowIsNoLeak) {
  if (syscost::failure_detail::heap_bytes() == 0) GTEST_SKIP() << "another allocator";
  syscost::SweepOptions options;
  options.errors = {ENOMEM};
  const auto takes_much = [] {
    std::vector<std::unique_ptr<char[]>> all;
    for (int i = 0; i < 500; ++i) all.push_back(std::make_unique<char[]>(4000));
  };
  const Sweep sweep = for_each_failure("brk", takes_much, options);
  EXPECT_EQ(sweep.count(AfterFailure::leaked), 0U) << sweep;
  const auto takes_one = [] { std::free(std::malloc(std::size_t{40} << 20)); };
  EXPECT_EQ(for_each_failure("mmap", takes_one, options).count(AfterFailure::leaked), 0U);
}

TEST_F(Failures, NothingTriedIsNoSuccess) {
  EXPECT_FALSE(for_each_failure("fsync", [] { return true; }).is_clean());
  EXPECT_NE(for_each_failure("fsync", [] { return false; }).why_none.find("fails by itself"), std::string::npos);
}

TEST(Unhandled, AssertionInTheBody) {
  for_each_failure(
      "write", [] { EXPECT_FALSE(write_fails()); }, one_error());
}

TEST(Unhandled, Leak) {
  EXPECT_FAILURES_HANDLED("write", leaking());
  unlink(path().c_str());
}

}  // namespace
