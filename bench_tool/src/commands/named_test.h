// SPDX-License-Identifier: MIT
//
// TEST of the command line: a test named by its name or a part of it, and no more read than it needs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "csv/find_files.h"
#include "csv/problems.h"
#include "model/group.h"
#include "model/loader.h"

namespace syscost::bench::commands {

struct NamedTest {
  model::Dataset data;
  std::vector<model::Group> groups;  ///< Of data: all, or those that TEST may mean.
};

/// Reads what `test` may mean from `run`; where it means nothing, which tests there are.
NamedTest load_named(csv::Run run, model::LoadOptions options, const std::string& test, csv::Problems& problems);

/// The groups that `asked` names: exactly, with or without the program, or else by a part of the name. Loops of a test
/// that is among them are not: they are shown with it.
std::vector<const model::Group*> find_test(const model::Dataset& data, const std::vector<model::Group>& groups,
                                           const std::string& asked);

/// Of tests that were found, the only one that is a test or benchmark, if there is one, whatever its suite or its
/// children have.
void prefer_tests(const model::Dataset& data, std::vector<const model::Group*>& found);

/// Says for `command` which tests there are instead of the one that was not found, or not alone.
void print_candidates(const NamedTest& named, const std::vector<const model::Group*>& found, const std::string& wanted,
                      const char* command, std::ostream& err);

}  // namespace syscost::bench::commands
