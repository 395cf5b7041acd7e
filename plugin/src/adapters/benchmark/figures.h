// SPDX-License-Identifier: MIT
//
// Figures: what an iteration costs, told apart from what a run of the loop costs whatever its length.
//
// A loop that opens a file in its first iteration and reads in each makes N reads and one openat: counts of passes of
// different lengths lie on a line, whose slope is the cost of an iteration and whose start is the fixed cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/benchmark/record.h"

namespace syscost::benchmark_adapter {

struct Figure {
  double per_iteration = 0;
  std::optional<std::uint64_t> fixed;  ///< Empty: there is only one length, or the counts lie on no line.
};

struct Figures {
  Figure all;
  struct Named {
    std::string name;
    Figure figure;
  };
  std::vector<Named> by_syscall;  ///< Most calls first.
};

/// Calls of `counts[i]` in passes of `iterations[i]`, the last one being the one that is reported. Exposed for tests.
Figure figure_of(const std::vector<std::uint64_t>& iterations, const std::vector<std::uint64_t>& counts);

/// Empty when the passes have no exact counts.
std::optional<Figures> figures_of(const Record& record);

}  // namespace syscost::benchmark_adapter
