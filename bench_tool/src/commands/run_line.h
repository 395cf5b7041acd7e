// SPDX-License-Identifier: MIT
//
// The line that identifies a RUN: if you read a result in a log a week later, you must still see which run it is of.
#pragma once

#include <cstddef>
#include <string>

#include "model/dataset.h"

namespace syscost::bench::commands {

/// `main.csv: run 17, label nightly, commit 43cf755a0e1c, 2026-11-21T01:52:31Z`; several runs are counted.
std::string run_line(const model::Dataset& data);

/// So many digits of a commit identify it.
inline constexpr std::size_t kCommitDigits = 12;

/// `2026-11-21T01:52:31Z` of a time with decimals.
std::string seconds_of(const std::string& time);

}  // namespace syscost::bench::commands
