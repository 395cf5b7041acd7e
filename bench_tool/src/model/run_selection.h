// SPDX-License-Identifier: MIT
//
// Which runs of a RUN argument count: the newest of each file, or the one that --run names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "csv/problems.h"
#include "model/dataset.h"

namespace syscost::bench::model {

/// The run of `file` that started last, by its last program; of equal times the run's id decides. kNoName: none.
NameId newest_run(const Dataset& data, std::uint32_t file);

/// The run that `asked` names: its id, `label:X`, `commit:X`, `newest`, `newest~1`, `oldest`; nullopt if there is none.
std::optional<NameId> asked_run(const Dataset& data, const std::string& asked);

/// Notes that no run is `asked`, and which there are.
void report_unknown_run(const Dataset& data, const std::string& asked, csv::Problems& problems);

/// Leaves the samples and rows of the runs that `is_wanted(file, run)` is true for. Returns the new number of each
/// sample, RowStore::kNoSample for what is gone; empty if all are left.
std::vector<std::uint32_t> keep_runs(Dataset& data, const std::function<bool(std::uint32_t, NameId)>& is_wanted);

}  // namespace syscost::bench::model
