// SPDX-License-Identifier: MIT
//
// The rows of kind `run` that say how the processes of test programs ended. `bench run` writes them, after the
// programs.
#pragma once

#include <string>
#include <vector>

#include "os/result.h"

namespace syscost::session {

/// How the process of a test program ended, where the rows of its tests do not explain it.
struct ProgramEnd {
  std::string program;
  int process = 0;
  std::string how;          ///< "SIGABRT" or "exit code 7".
  std::string first_cells;  ///< The columns before `kind` as the program wrote them; empty if it has no row.
};

/// Appends a row for each to the CSV at the absolute path `csv`.
Result<void> write_program_ends(const std::string& csv, const std::vector<ProgramEnd>& ends);

}  // namespace syscost::session
