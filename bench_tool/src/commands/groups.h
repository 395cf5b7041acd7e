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
#include "render/paint.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int groups_run(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// The groups of a RUN.
struct GroupedRun {
  model::Dataset data;
  groups::Grouping grouping;
};

std::string groups_text(const GroupedRun& run, const cli::Options& options, const render::Paint& paint);
std::string groups_markdown(const GroupedRun& run, const cli::Options& options);
std::string groups_json(const std::vector<GroupedRun>& runs);
std::string groups_csv(const std::vector<GroupedRun>& runs);

}  // namespace syscost::bench::commands
