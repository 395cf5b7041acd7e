// SPDX-License-Identifier: MIT
//
// The run of benchmarks in the counting process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace syscost::benchmark_adapter {

/// What a counting process is told: which call of RunSpecifiedBenchmarks() it counts (from 0), what the ones before
/// returned, and the position at which it begins.
struct Orders {
  std::size_t call = 0;
  std::size_t first = 0;
  bool probes = true;  ///< May run loops once before, to find those that are out of sight.
  std::vector<std::size_t> answers;

  std::string text() const;
  static Orders from(const std::string& text);
};

/// Runs the benchmarks that `spec` selects, silently, and sends what they cost; where a process before it died, only
/// those that positions_to_count() has for `orders.first`. Ends the process.
[[noreturn]] void run_counting(const std::string& spec, const Orders& orders);

/// Which of the benchmarks with these names are counted by a process that goes on at position `first`, in order. From 0
/// all are. Later they are selected by name, so those that share one are not.
std::vector<std::size_t> positions_to_count(const std::vector<std::string>& names, std::size_t first);

}  // namespace syscost::benchmark_adapter
