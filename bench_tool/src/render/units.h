// SPDX-License-Identifier: MIT
//
// Numbers for people: three significant digits, a unit, and `n/a` for what was not measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stats/window_summary.h"

namespace syscost::bench::render {

inline constexpr const char* kNotMeasured = "n/a";

/// `152 ns`, `1.23 us`, `131 us`, `2.50 s`.
std::string duration(double ns);
std::string duration(const stats::Numbers& numbers);

/// `1024`; with a fraction `0.5` or `1024.25` (at most three decimals).
std::string count(double value);
/// `1024` when all repetitions agree, else `1024 [1024..1026]`: median and range.
std::string count(const stats::Numbers& numbers);
/// `1024 calls`, `1 call`.
std::string calls(const stats::Numbers& numbers);

/// `94.1`; `n/a` when the whole is 0 or either was not measured. No percent sign: columns carry it.
std::string percent(const stats::Numbers& part, const stats::Numbers& whole);

/// `100 bytes`, `1 byte`, `1048576 bytes (1.00 MiB)`.
std::string bytes(double value);

/// How a histogram's bound is written on an axis: `512`, `1K`, `64M`, as bpftrace does (K = 1024).
std::string power_of_two(std::uint64_t value);

/// A number for machines: as few digits as say it exactly.
std::string plain(double value);

}  // namespace syscost::bench::render
