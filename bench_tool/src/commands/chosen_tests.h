// SPDX-License-Identifier: MIT
//
// Which tests a command shows: --test, --sort, --top.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/dataset.h"
#include "model/group.h"
#include "model/loader.h"
#include "model/test_choice.h"

namespace syscost::bench::commands {

/// The groups in the order `key` (summary_overview.h, or `file`), at most `top` of them (0: all). Loops follow
/// their owners and do not count towards `top`.
std::vector<model::Group> ordered_groups(const model::Dataset& data, const std::vector<model::Group>& groups,
                                         const std::string& key, std::size_t top);

/// What to load of a RUN: the folders, runs and tests that `options` choose.
model::LoadOptions load_options_of(const cli::Options& options);

/// Notes that no test of `data` was chosen by `tests`, if that is why it holds none.
void note_no_test(const model::Dataset& data, const model::TestChoice& tests, csv::Problems& problems);

}  // namespace syscost::bench::commands
