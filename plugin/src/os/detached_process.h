// SPDX-License-Identifier: MIT
//
// Programs of ours that run beside a test, started so that the test cannot notice them.
//
// What is started is no child of the measured process: its end raises no SIGCHLD and is found by no wait(). It has none
// of the test's descriptors, signal dispositions, masks, or terminal.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "os/result.h"

namespace syscost {

inline constexpr int kFirstPassedDescriptor = 3;

struct DetachedProgram {
  std::vector<std::string> arguments;    ///< The first is an absolute path.
  std::vector<std::string> environment;  ///< All of it, "NAME=value".
  std::vector<int> descriptors;          ///< Become 3, 4, ...; four at most. 0, 1 and 2 are /dev/null.
  /// Of this process's permitted capabilities (bit CAP_X), those that the program keeps although its file has none.
  std::uint64_t capabilities = 0;
};

struct DetachedProcess {
  pid_t process = 0;
  /// For end_own_session() (os/own_calls.h), once the program has ended.
  pid_t session = 0;
};

/// Returns once it executes. It becomes a child of this process only if orphans come to this process (it is a PID
/// namespace's init, or asked for them): adopts_orphans(). Makes syscalls: between windows only.
Result<DetachedProcess> start_detached(const DetachedProgram& program);

/// True when orphans become children of this process.
bool adopts_orphans();

}  // namespace syscost
