// SPDX-License-Identifier: MIT
//
// What the reports share: the programs beside this one, the values they print, and medians of many runs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace overhead {

/// A program that was built beside this one.
std::string beside(const std::string& program);

/// Finds `key VALUE` in what a program printed.
std::optional<double> value_of(const std::string& output, const std::string& key);

/// Of at least one value.
double median(std::vector<double> values);

/// The order statistics that bound the median of `n` values with at least 95 % confidence: {low, high}, from 0.
std::pair<std::size_t, std::size_t> median_interval(std::size_t n);

/// One of the project's own limits (docs/performance.md), and whether this run kept it. Reported, never asserted.
void judge(const std::string& limit, bool kept);

}  // namespace overhead
