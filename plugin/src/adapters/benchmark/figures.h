// SPDX-License-Identifier: MIT
//
// Figures: the calls of one iteration, separated from the calls that a run of the loop makes once.
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

/// The growing passes that separate per-run calls from others: all but the very first, which includes lazy
/// initialisation.
std::vector<const Pass*> shorter_passes(const Record& record);

/// Empty if the passes have no exact counts.
std::optional<Figures> figures_of(const Record& record);

}  // namespace syscost::benchmark_adapter
