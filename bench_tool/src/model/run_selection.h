// SPDX-License-Identifier: MIT
//
// run_selection: which runs of a RUN argument count: the newest of each file, by their start times, or the one that
// --run names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

/// True for `2026-11-21T01:52:31.123Z`, with any number of decimals or none, and for "": the start was not written
/// down. A RUN means its newest run, so a text that is no time must not win because it sorts last.
bool is_time(std::string_view text);

/// A key for such a time. Keys sort as the times do, even if the numbers of decimals differ.
std::string_view sortable_time(std::string_view time);

/// Nanoseconds from 1970 to `time`, UTC; nullopt if it is no time, or none from 1970 to 2261. Google Benchmark writes
/// `+02:00` in the place of `Z`.
std::optional<std::uint64_t> unix_ns(std::string_view time);

}  // namespace syscost::bench::model
