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

/// Makes Google Benchmark run only the passes that we request, and write no file.
void leave_no_other_passes();
/// The names of the benchmarks that `spec` selects, in the order in which they will run.
std::vector<std::string> list_names(const std::string& spec);
/// Makes Google Benchmark lengthen passes tenfold until a hook stops that, and then make `repetitions` passes of the
/// last length in all.
void set_pass_flags(std::int64_t repetitions);

/// The request for a counting process: which call of RunSpecifiedBenchmarks() it counts (from 0), the results of
/// earlier calls, the position at which it begins, and the positions of benchmarks that ended a process.
struct CountingRequest {
  std::size_t call = 0;
  std::size_t first = 0;
  bool probes = true;         ///< It may first run each loop once, to find loops that the hooks do not see.
  bool is_for_tools = false;  ///< It makes passes that tools observe (tracing_run.h), and counts none.
  std::vector<std::size_t> answers;
  std::vector<std::size_t> dead;

  std::string text() const;
  static CountingRequest from(const std::string& text);
};

/// Runs the benchmarks that `spec` selects, silently, and sends their counts. If an earlier process died, runs only the
/// benchmarks of positions_to_run(). Ends the process.
[[noreturn]] void run_counting(const std::string& spec, const CountingRequest& request);

/// The benchmarks, of those with these names in order, that a process runs which continues at position `first`. With
/// `first` 0: all. Otherwise Google Benchmark selects them by name. So an earlier benchmark runs again if one at or
/// after `first` has its name, and no benchmark runs that has the name of one of the `dead`. In random order,
/// benchmarks of one name cannot be distinguished, and are left out.
std::vector<std::size_t> positions_to_run(const std::vector<std::string>& names, std::size_t first,
                                          const std::vector<std::size_t>& dead);

}  // namespace syscost::benchmark_adapter
