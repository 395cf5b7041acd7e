// SPDX-License-Identifier: MIT
//
// The line that says what a RUN is: a result that lies in a log for a week must still say what it is about.
#pragma once

#include <cstddef>
#include <string>

#include "model/dataset.h"

namespace syscost::bench::commands {

/// `main.csv: run 17, label nightly, commit 43cf755a0e1c, 2026-11-21T01:52:31Z`; several runs are counted.
std::string run_line(const model::Dataset& data);

/// So much of a commit tells it from others.
inline constexpr std::size_t kCommitDigits = 12;

/// `2026-11-21T01:52:31Z` of a time with decimals.
std::string seconds_of(const std::string& time);

}  // namespace syscost::bench::commands
