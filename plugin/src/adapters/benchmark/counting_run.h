// SPDX-License-Identifier: MIT
//
// The run of benchmarks in the counting process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace syscost::benchmark_adapter {

// For tracing_run.h as well, in this order.

/// Lets Google Benchmark run no loop but for the passes that we ask for, and write no file.
void leave_no_other_passes();
/// The names of what `spec` selects, in the order in which they will run.
std::vector<std::string> list_names(const std::string& spec);
/// Makes Google Benchmark grow passes tenfold until a hook ends that, and then repeat the last length so often in all.
void set_pass_flags(std::int64_t repetitions);

/// What a counting process is told: which call of RunSpecifiedBenchmarks() it counts (from 0), what the ones before
/// returned, the position at which it begins, and those of benchmarks that ended a process.
struct CountingRequest {
  std::size_t call = 0;
  std::size_t first = 0;
  bool probes = true;         ///< May run loops once before, to find those that are out of sight.
  bool is_for_tools = false;  ///< It makes passes for tools to look at (tracing_run.h), and counts none.
  std::vector<std::size_t> answers;
  std::vector<std::size_t> dead;

  std::string text() const;
  static CountingRequest from(const std::string& text);
};

/// Runs the benchmarks that `spec` selects, silently, and sends what they cost; where a process before it died, only
/// those that positions_to_run() has. Ends the process.
[[noreturn]] void run_counting(const std::string& spec, const CountingRequest& orders);

/// Which of the benchmarks with these names, in order, a process runs that goes on at position `first`. From 0: all.
/// Later positions are selected by name: so an earlier benchmark runs again if one at or after `first` has its name,
/// and none runs that has the name of one of the `dead`. In random order such names cannot be told apart, and are left
/// out.
std::vector<std::size_t> positions_to_run(const std::vector<std::string>& names, std::size_t first,
                                          const std::vector<std::size_t>& dead);

}  // namespace syscost::benchmark_adapter
