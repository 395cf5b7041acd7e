// SPDX-License-Identifier: MIT
//
// Processes that the test cannot notice: programs of ours beside it, and children that try a backend.
//
// The end of such a process raises no SIGCHLD, and no wait() of the test returns it. A program beside the test is no
// child of the measured process, and has none of the test's descriptors, signal dispositions, masks, or terminal.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "os/errors.h"

namespace syscost {

// A child that runs in this process's memory until it executes or ends, as vfork(2)'s, on a stack of its own.
//
// The C library's clone(2) is a function that sanitizers stand before: clang's ThreadSanitizer treats each call of it
// as a fork in a process of its own memory, and ends the program when such a child makes a second one.

/// Returns when the child executed a program or ended: its pid, or -1 with errno. `exit_signal` 0 = none. If `child` is
/// not null, the kernel writes the pid there before the child runs. `run(argument)` must not return, and must do
/// nothing but make syscalls, by syscall(2). `stack_top` is 16-byte aligned. The caller blocks signals, if needed.
pid_t clone_sharing_memory(int exit_signal, void* stack_top, pid_t* child, void (*run)(void*), void* argument);

/// Starts a child in which syscost tests, before it measures, whether a backend works. No wait() returns the child,
/// because it sends no signal at its end. It shares our descriptors, and blocks every signal. It must neither allocate
/// nor lock. Returns 0 in the child; -1, with errno, if it cannot be started.
pid_t clone_quietly();
/// Waits for such a child's end; its status as waitpid() has it.
int wait_for_quiet_child(pid_t child);

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
