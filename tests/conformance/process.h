// SPDX-License-Identifier: MIT
//
// Runs a program with a deadline, so that a case that hangs fails by name and leaves no process.
#pragma once

#include <string>
#include <vector>

namespace conformance {

struct Ended {
  int status = -1;         ///< Exit status; 128 + signal when a signal ended it.
  bool timed_out = false;  ///< Its whole process group was killed at the deadline.
  std::string output;      ///< stdout and stderr.
};

/// Runs `command` (found on PATH) with `environment` ("NAME=value") added to ours.
Ended run_program(const std::vector<std::string>& command, const std::vector<std::string>& environment, int deadline_s);

/// True when PATH has an executable of that name.
bool is_on_path(const std::string& program);

}  // namespace conformance
