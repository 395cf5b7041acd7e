// SPDX-License-Identifier: MIT
//
// Contained runs of shell scripts, and a working folder that a test may fill.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "faults/contained.h"

namespace syscost::bench::faults {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

inline ContainedCommand shell(const std::string& script) {
  ContainedCommand command;
  command.arguments = {"/bin/sh", "-c", script};
  command.limit = 60s;
  return command;
}

inline ContainedEnd end_of(ContainedRuns& runs, const ContainedCommand& command) {
  const int number = runs.start(command);
  for (;;) {
    if (auto ended = runs.wait(60s)) {
      EXPECT_EQ(ended->first, number);
      return std::move(ended->second);
    }
  }
}

/// A working directory and a TMPDIR that a test may choose.
class ContainedRunIn : public ::testing::Test {
 protected:
  ContainedRunIn() : before_(fs::current_path()) {
    const char* const variable = ::getenv("TMPDIR");
    temporary_ = variable != nullptr ? variable : "";
    std::string name = before_ / "contained.XXXXXX";  // not in /tmp, which a run may cover
    folder_ = ::mkdtemp(name.data());
    fs::current_path(folder_);
  }
  ~ContainedRunIn() override {
    fs::current_path(before_);
    temporary_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", temporary_.c_str(), 1);
    fs::remove_all(folder_);
  }

  fs::path before_;
  std::string temporary_;
  fs::path folder_;
};

}  // namespace syscost::bench::faults
