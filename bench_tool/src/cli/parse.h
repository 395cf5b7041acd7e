// SPDX-License-Identifier: MIT
//
// From arguments to Options: the grammar reads them, and this file checks what the grammar cannot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"

namespace syscost::bench::cli {

/// Either options, or what to print and the exit code to end with (help: stdout, 0; usage errors: stderr, 2).
struct Parsed {
  std::optional<Options> options;
  std::string message;
  int exit_code = kExitOk;
};

/// Parses arguments without the program's name.
Parsed parse(const std::vector<std::string>& args);

}  // namespace syscost::bench::cli
