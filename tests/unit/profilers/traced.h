// SPDX-License-Identifier: MIT
//
// A test that traces itself: attaches in attach(), skips with the reason where that may not be.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extras/profilers/profiler.h"

namespace syscost::profilers {

inline std::string text_of(const Failure& failure) {
  return failure.reason + "; " + failure.how_to_fix;
}

class TracedTest : public testing::Test {
 protected:
  void SetUp() override { out_ = open("/dev/null", O_WRONLY | O_CLOEXEC); }
  void TearDown() override {
    if (out_ >= 0) close(out_);
  }

  /// False: the test was skipped and must return.
  bool make(const std::string& script) {
    if (geteuid() != 0) {
      skip("bpftrace works for root only: run as root");
      return false;
    }
    Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {script}, .script_folders = {}});
    if (!made.ok()) {
      skip(text_of(made.failure()));
      return false;
    }
    profiler_ = std::move(made.value());
    return true;
  }

  /// False: the test was skipped, or has failed, and must return.
  bool attach(const std::string& script) {
    if (!make(script)) return false;
    const Result<void> attached = profiler_->attach();
    // The code above has found each reason that makes bpftrace itself impossible.
    EXPECT_TRUE(attached.ok()) << text_of(attached.failure());
    return attached.ok();
  }

  bool detach() {
    Result<std::vector<Output>> outputs = profiler_->detach();
    EXPECT_TRUE(outputs.ok()) << text_of(outputs.failure());
    if (!outputs.ok()) return false;
    output_ = outputs.value().front();
    EXPECT_EQ(output_.lost_events, 0U);
    return true;
  }
  /// Detaches, and returns the counts of syscall `number`.
  SyscallFigures detach_and_find(int number) {
    if (!detach()) return {};
    for (const SyscallFigures& syscall : output_.syscalls) {
      if (syscall.number == number) return syscall;
    }
    return {};
  }

  void write_times(int count) const {
    for (int i = 0; i < count; ++i) {
      if (write(out_, "x", 1) != 1) std::abort();
    }
  }

  std::unique_ptr<Profiler> profiler_;
  int out_ = -1;
  Output output_;

 private:
  static void skip(const std::string& reason) { GTEST_SKIP() << reason; }
};

}  // namespace syscost::profilers
