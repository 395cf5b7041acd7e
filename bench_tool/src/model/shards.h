// SPDX-License-Identifier: MIT
//
// Shards: the parts of a program's tests that several processes or machines run, and those of them that are missing.
//
// Each shard writes a CSV of its own. Read together they are one run. If a machine failed, its shard's tests would be
// missing without a reason; the shards that are there know how many there should be.
#pragma once

#include <string>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::model {

/// Which shards of the tests the run has: "in 4 shards", "only shard 2 of 4"; "" without shards, and where programs
/// differ.
std::string shards_text(const Dataset& data);

/// A sentence for each program of which some shards are here and others are not. Shards with a run_id in common belong
/// together; those with one of their own are taken as one run. One shard alone is what somebody chose, unless the run
/// is a folder: then others may not have arrived.
std::vector<std::string> missing_shards(const Dataset& data, bool is_folder);

}  // namespace syscost::bench::model
