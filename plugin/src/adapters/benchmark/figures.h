// SPDX-License-Identifier: MIT
//
// Figures: what an iteration costs, told apart from what a run of the loop costs whatever its length.
//
// A loop that opens a file in its first iteration and reads in each makes N reads and one openat.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/benchmark/record.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {

using adapter::Figure;

struct Figures {
  Figure all;
  struct Named {
    std::string name;
    Figure figure;
  };
  std::vector<Named> by_syscall;  ///< Most calls first.
};

/// Those of the growing passes that tell per-run calls from others: all but the very first, which holds lazy
/// initialisation.
std::vector<const Pass*> shorter_passes(const Record& record);

/// Empty when the passes have no exact counts.
std::optional<Figures> figures_of(const Record& record);

}  // namespace syscost::benchmark_adapter
