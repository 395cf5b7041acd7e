// SPDX-License-Identifier: MIT
//
// Starts programs of ours beside a test so that the test cannot notice them.
//
// Such a program is no child of the measured process: its end raises no SIGCHLD, and no wait() returns it. It has none
// of the test's descriptors, signal dispositions, masks, or terminal.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "os/result.h"

namespace syscost {

inline constexpr int kFirstPassedDescriptor = 3;

struct DetachedProgram {
  std::vector<std::string> arguments;    ///< The first is an absolute path.
  std::vector<std::string> environment;  ///< All of it, "NAME=value".
  std::vector<int> descriptors;          ///< Become 3, 4, ...; four at most. 0, 1 and 2 are /dev/null.
  /// The permitted capabilities of this process (bit CAP_X) that the program keeps although its file has none.
  std::uint64_t capabilities = 0;
};

struct DetachedProcess {
  pid_t process = 0;
  /// For end_own_session() (os/own_calls.h), once the program has ended.
  pid_t session = 0;
};

/// Returns when the program executes. It becomes a child of this process only if adopts_orphans(): if this process is
/// the init of a PID namespace, or requested its orphans (PR_SET_CHILD_SUBREAPER). Makes syscalls: between windows
/// only.
Result<DetachedProcess> start_detached(const DetachedProgram& program);
/// The same without memory of the heap: `arguments` and `environment` end with a null pointer, as for execve().
Result<DetachedProcess> start_detached(char* const* arguments, char* const* environment,
                                       std::span<const int> descriptors, std::uint64_t capabilities);

/// True when orphans become children of this process.
bool adopts_orphans();

}  // namespace syscost
