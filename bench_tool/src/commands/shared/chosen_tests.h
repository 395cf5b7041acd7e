// SPDX-License-Identifier: MIT
//
// The tests that the command line chooses: by --test, --sort and --top, or by the name of one TEST.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "csv/run_files.h"
#include "model/choice.h"
#include "model/dataset.h"
#include "model/loader.h"

namespace syscost::bench::commands {

/// The groups in the order `key` (summary_overview.h, or `file`), at most `top` of them (0: all). Loops follow
/// their owners and do not count towards `top`.
std::vector<model::Group> ordered_groups(const model::Dataset& data, const std::vector<model::Group>& groups,
                                         const std::string& key, std::size_t top);

/// The parts of a RUN to load: the folders, runs and tests that `options` choose.
model::LoadOptions load_options_of(const cli::Options& options);

/// Notes that no test of `data` was chosen by `tests`, if that is why it holds none.
void note_no_test(const model::Dataset& data, const model::TestChoice& tests, csv::Problems& problems);

/// TEST of the command line: a test that is found by its name or a part of it. No more is read than that needs.
struct NamedTest {
  model::Dataset data;
  std::vector<model::Group> groups;  ///< The groups of `data`: all, or those that TEST may mean.
};

/// Reads the tests that `test` may mean from `run`; if it means none, the names of all tests.
NamedTest load_named(csv::Run run, model::LoadOptions options, const std::string& test, csv::Problems& problems);

/// The groups that `asked` names: exactly, with or without the program, or else by a part of the name. Loops of a test
/// that is among them are not: they are shown with it.
std::vector<const model::Group*> find_test(const model::Dataset& data, const std::vector<model::Group>& groups,
                                           const std::string& asked);

/// Reduces `found` to its only test or benchmark, if it holds exactly one. Rows of its suite and of its children go.
void prefer_tests(const model::Dataset& data, std::vector<const model::Group*>& found);

/// The message of `command` if no test was found, or several: the names of the tests that exist.
void print_candidates(const NamedTest& named, const std::vector<const model::Group*>& found, const std::string& wanted,
                      const char* command, std::ostream& err);

}  // namespace syscost::bench::commands
