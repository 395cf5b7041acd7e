// SPDX-License-Identifier: MIT
//
// Child: runs another program without a shell and hands on what it prints.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::commands {

struct ChildEnd {
  int error = 0;              ///< errno when it could not be run, else 0.
  int status = 0;             ///< As waitpid() gives it.
  std::uint64_t wall_ns = 0;  ///< From its start to its end.
  std::uint64_t cpu_ns = 0;   ///< User and system time, with that of the children it waited for (getrusage).
};

/// Runs `args` (the program first; looked for in PATH when it has no slash) to its end. `take` gets its standard output
/// and error, piece by piece. `variables`, each `NAME=VALUE`, are set in its environment over ours.
ChildEnd run_child(std::vector<std::string> args, const std::function<void(std::string_view)>& take,
                   std::vector<std::string> variables = {});

/// The last lines of what a failed command printed.
std::string tail_of(const std::string& output);

/// `exit status 3`, `killed by signal 11 (Segmentation fault)`; what `status` of an ended child says.
std::string status_text(int status);

}  // namespace syscost::bench::commands
