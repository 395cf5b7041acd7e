// SPDX-License-Identifier: MIT
//
// The parts that the reports share: the programs beside this one, the values that they print, and medians.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace overhead {

/// A program that was built beside this one.
std::string beside(const std::string& program);

/// Finds `key VALUE` in what a program printed.
std::optional<double> value_of(const std::string& output, const std::string& key);

/// The median of at least one value.
double median(std::vector<double> values);

/// `+0.12 ns, 95 % interval [-0.01, +0.25] over 10 pairs`: the median of the pairs' differences and its interval. Fewer
/// than 6 pairs have no such interval, so none is printed. Needs at least one pair.
struct Difference {
  std::string text;
  std::optional<bool> contains_zero;
};
Difference difference_of(const std::vector<double>& differences, const std::string& unit);

/// One of the project's own limits (docs/performance.md), and whether this run kept it. Reported, never asserted.
void judge(const std::string& limit, bool kept);

}  // namespace overhead
