// SPDX-License-Identifier: MIT
//
// for_each_failure: functions with known faults, and what the sweep must say of each failure.
#include "syscost/failures.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string>

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

TEST_F(Failures, ACallThatDoesNotComeIsNoSuccess) {
  int runs = 0;
  const Sweep sweep = for_each_failure("fsync", [&] { return runs++ > 0 || handled(); });
  ASSERT_EQ(sweep.failures.size(), 1U);
  EXPECT_EQ(sweep.failures[0].outcome, AfterFailure::not_reached);
  EXPECT_FALSE(sweep.is_clean());
}

TEST_F(Failures, NothingTriedIsNoSuccess) {
  EXPECT_FALSE(for_each_failure("fsync", [] { return true; }).is_clean());
  EXPECT_NE(for_each_failure("fsync", [] { return false; }).why_none.find("fails by itself"), std::string::npos);
}

TEST(Unhandled, Leak) {
  EXPECT_FAILURES_HANDLED("write", leaking());
  unlink(path().c_str());
}

}  // namespace
