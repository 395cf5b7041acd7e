// SPDX-License-Identifier: MIT
//
// Programs that crashed, or failed outside of their tests, as each command says it: no row of a test shows them.
#pragma once

#include <string>
#include <vector>

#include "csv/problems.h"
#include "model/dataset.h"

namespace syscost::bench::commands {

/// `crashed: my_tests crashed after Suite.Test`, `failed: my_tests failed outside of its tests: ...`. Of many, the
/// first few and how many more there are.
std::vector<std::string> crash_lines(const model::Dataset& data);

/// The same for a run that is judged, without the programs that did so in `before`. Null = there is no such run.
struct ProgramFaults {
  std::size_t crashed = 0;
  std::size_t failed_outside = 0;
  std::string command;                 ///< What it ended with, if no test explains it: `exit status 8`.
  std::vector<std::string> names;      ///< Of the programs.
  std::vector<std::string> sentences;  ///< One for each name.

  bool empty() const { return names.empty(); }
  /// `1 program crashed, 2 programs failed outside of their tests`; "" if there are none.
  std::string text() const;
};
ProgramFaults program_faults(const model::Dataset& data, const model::Dataset* before);

/// Notes the lines about a run without any test.
void note_crashes(const model::Dataset& data, csv::Problems& problems);

}  // namespace syscost::bench::commands
