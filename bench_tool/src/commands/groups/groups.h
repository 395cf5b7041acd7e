// SPDX-License-Identifier: MIT
//
// bench groups: the kinds of tests of a run, and the calls that the tests of a fixture share.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "groups/groups.h"
#include "model/dataset.h"
#include "render/terminal.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int groups_run(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// The groups of a RUN.
struct GroupedRun {
  model::Dataset data;
  groups::Grouping grouping;
};

/// `4 groups of 166 tests: silhouette 0.74, by chance up to 0.22`.
std::string groups_headline(const groups::Grouping& grouping);
/// `50 openat, 50 close, 7 read and 3 more`.
std::string shown_calls(const std::vector<groups::Calls>& calls);

std::string groups_text(const GroupedRun& run, const cli::Options& options, const render::Paint& paint);
std::string groups_markdown(const GroupedRun& run, const cli::Options& options);
std::string groups_json(const std::vector<GroupedRun>& runs);
std::string groups_csv(const std::vector<GroupedRun>& runs);

}  // namespace syscost::bench::commands
