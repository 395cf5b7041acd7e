// SPDX-License-Identifier: MIT
//
// Programs with tests into which nothing can be preloaded. As the command they are refused before they start. Below a
// runner they run, and `bench run` names them at its end: the preloaded part of the runner wrote them down.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/find/file_kind.h"

namespace syscost::bench_run {

struct OutOfReach {
  std::string why;     ///< A sentence that begins with the program's name.
  std::string remedy;  ///< What to do.
};
/// Nothing where the agent can be preloaded into a program of this kind.
std::optional<OutOfReach> out_of_reach(const std::string& name, agent::FileKind kind);

/// The file for the lines of programs below.
class Notes {
 public:
  /// Makes the file at `path`, where nothing is, and tells the programs below of it. Where no file can be made there,
  /// nothing is noted.
  explicit Notes(std::string path);

  /// Why syscost ended the program of `process` instead of measuring it; empty where it did not.
  std::string refusal_of(pid_t process) const;

  /// The end of a process with a test framework.
  struct End {
    pid_t process;
    std::string program;  ///< As the CSV names it.
    int status;           ///< As waitpid() gives it.
  };
  /// Those that their parents waited for, and `command`, which ended with `status`. Without those for which syscost
  /// chose the exit code, and those that ended with one after they were asked for a list of their tests.
  std::vector<End> ends(pid_t command, int status) const;

  /// True where there was a program with a test framework, and each one was asked for a list of its tests or for help.
  bool are_of_lists_only() const;

  /// Prints each program once.
  void print() const;

 private:
  std::string path_;
};

}  // namespace syscost::bench_run
