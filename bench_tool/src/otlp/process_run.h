// SPDX-License-Identifier: MIT
//
// ProcessRun: the windows of one measured process, with their places in time.
//
// A row says how long its window took, and not when it began. Only the process has a start in the file. So windows are
// laid out from there, one after the other, in the order of their rows, which is the order in which they ended: their
// durations are measured, their starts are derived. docs/decisions/0038 says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "csv/problems.h"
#include "model/dataset.h"
#include "otlp/signals.h"

namespace syscost::bench::otlp {

/// A window of the process. Times in ns since 1970.
struct PlacedWindow {
  std::uint32_t sample = 0;
  std::optional<std::size_t> owner;  ///< The window it ran in, an index into the same list; none: the process alone.
  bool is_span = false;              ///< False: a figure of a tool or of a GPU, without a place of its own.
  std::uint64_t start_unix_ns = 0;
  std::uint64_t end_unix_ns = 0;  ///< The start, if the duration was not measured.
};

struct ProcessRun {
  std::uint32_t context = 0;
  std::uint64_t pid = 0;
  std::string key;  ///< All that tells it from other processes.
  std::uint64_t start_unix_ns = 0;
  std::uint64_t end_unix_ns = 0;  ///< Derived: of the last window.
  std::vector<PlacedWindow> windows;
};

/// The processes of `data`, in the order of their first rows. A process without a start time is left out, and is a
/// problem.
std::vector<ProcessRun> process_runs(const model::Dataset& data, csv::Problems& problems);

/// Returns the attributes that all spans and points of a process share.
Attributes resource_of(const model::Dataset& data, const ProcessRun& process);

}  // namespace syscost::bench::otlp
