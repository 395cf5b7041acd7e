// SPDX-License-Identifier: MIT
//
// A sweep of failures that cannot begin to measure says what is missing, and takes it for no outcome of a test.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "faults/sweep.h"

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;

class SweepStart : public ::testing::Test {
 protected:
  SweepStart() {
    std::string name = ::testing::TempDir() + "sweep.XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~SweepStart() override { fs::remove_all(folder_); }

  /// The fault that a sweep with this program as syscost-run tells.
  std::string fault_of(const std::string& runner) {
    SweepOptions options;
    options.runner = runner;
    options.command = {"/bin/true"};
    options.framework = Framework::googletest;
    StateFile file;
    Sweep sweep(
        options, [] { return false; }, [](const SweepProgress&) {}, file, state_);
    return sweep.run();
  }

  fs::path folder_;
  SweepState state_;
};

constexpr const char* kRemedy =
    "\n`bench faults` needs the whole of syscost. Run ./dev build, or install it (Debian: syscost-tools).";

TEST_F(SweepStart, SaysThatTheRunnerIsNotThere) {
  EXPECT_EQ(fault_of("/no/syscost-run"),
            std::string("/no/syscost-run cannot be started: No such file or directory") + kRemedy);
}

TEST_F(SweepStart, SaysThatTheRunnerHasGoneInTheMiddle) {
  LearnedTest test;
  test.name = "Store.Saves";
  test.places = {{"write", "desc", "", {1}, 1}};
  state_.tests = {test};
  state_.has_learned = true;
  EXPECT_EQ(fault_of("/no/syscost-run"),
            std::string("/no/syscost-run cannot be started: No such file or directory") + kRemedy);
  EXPECT_TRUE(state_.done.empty()) << "no outcome of the test";
}

TEST_F(SweepStart, SaysWhichLibraryTheRunnerLacks) {
  const std::string runner = folder_ / "syscost-run";
  std::ofstream(runner)
      << "#!/bin/sh\necho \"$0: error while loading shared libraries: libsyscost.so.0: not found\" >&2\n"
         "exit 127\n";
  ASSERT_EQ(::chmod(runner.c_str(), 0700), 0);
  EXPECT_EQ(fault_of(runner), runner + ": error while loading shared libraries: libsyscost.so.0: not found" + kRemedy);
}

}  // namespace
}  // namespace syscost::bench::faults
