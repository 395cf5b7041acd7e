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

/// Names the shards that the run has: "in 4 shards", "only shard 2 of 4". Returns "" if there are no shards, or if
/// programs have different ones.
std::string shards_text(const Dataset& data);

/// How the runs of a dataset belong together.
enum class RunsAre {
  one_file,    ///< They are one run. One shard alone is what somebody chose.
  one_folder,  ///< They are one run. If one shard is alone, the others may not have arrived.
  apart,       ///< Each is a run of a history. One shard alone has a run_id of its own, or is what somebody chose.
};

/// Returns a sentence for each program of which some shards are here and others are missing. Shards with a run_id in
/// common belong together. Each shard with a run_id of its own is taken as a part of one run, unless runs are apart.
std::vector<std::string> missing_shards(const Dataset& data, RunsAre runs);

}  // namespace syscost::bench::model
