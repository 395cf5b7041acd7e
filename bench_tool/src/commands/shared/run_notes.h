// SPDX-License-Identifier: MIT
//
// Notes on a run, besides its tests: the line that identifies it, programs that crashed, and how its surroundings
// differ from those of another run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "csv/problems.h"
#include "model/dataset.h"

namespace syscost::bench::commands {

/// The line that identifies a RUN: if you read a result in a log a week later, you must still see which run it is of.
/// `main.csv: run 17, label nightly, commit 43cf755a0e1c, 2026-11-21T01:52:31Z`; several runs are counted.
std::string run_line(const model::Dataset& data);

/// So many digits of a commit identify it.
inline constexpr std::size_t kCommitDigits = 12;

/// `2026-11-21T01:52:31Z` of a time with decimals.
std::string seconds_of(const std::string& time);

/// A line of a baseline's head: the programs with model::reordered_tests(), with commas between.
inline constexpr std::string_view kOrderSurrounding = "order of tests varies in";

/// Programs that crashed, or failed outside of their tests, as each command says it: no row of a test shows them.
/// `crashed: my_tests crashed after Suite.Test`, `failed: my_tests failed outside of its tests: ...`. If there are
/// many, the first few and how many more there are.
std::vector<std::string> crash_lines(const model::Dataset& data);

/// The same for a run that is judged, without the programs that did so in `before`. Null = there is no such run.
struct ProgramFaults {
  std::size_t crashed = 0;
  std::size_t failed_outside = 0;
  std::string command;                 ///< How it ended, if no test explains it: `exit status 8`.
  std::vector<std::string> names;      ///< The programs' names.
  std::vector<std::string> sentences;  ///< One for each name.

  bool empty() const { return names.empty(); }
  /// `1 program crashed, 2 programs failed outside of their tests`; "" if there are none.
  std::string text() const;
};
ProgramFaults program_faults(const model::Dataset& data, const model::Dataset* before);

/// Notes the lines about a run without any test.
void note_crashes(const model::Dataset& data, csv::Problems& problems);

/// A line for each fact that differs between the surroundings of two runs and may change counts: its effect, and what
/// to do. Commands print the lines before the counts.
///
/// The advice is what was measured on suites that we did not write (tests/gate/surroundings, docs/statistics.md).
std::vector<std::string> surroundings_lines(const model::Dataset& before, const model::Dataset& after);

/// The facts worth remembering in a baseline, under the names of its head.
std::vector<std::pair<std::string, std::string>> facts_to_remember(const model::Dataset& data);

/// Says how counts change if the fact with this name differs between runs. Names are those of facts_to_remember(); ""
/// for an unknown name.
std::string_view advice_on(std::string_view name);

}  // namespace syscost::bench::commands
