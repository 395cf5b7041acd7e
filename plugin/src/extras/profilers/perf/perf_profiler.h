// SPDX-License-Identifier: MIT
//
// The profiler that runs perf, and reads its output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"

namespace syscost::profilers {

struct PerfCounter {
  std::string event;
  std::optional<double> value;  ///< Or `reason`.
  std::string unit;             ///< "msec"; empty for a count.
  double percent_counted =
      100;             ///< Below 100 the kernel shared the counter out over time, and perf scaled what it saw.
  std::string reason;  ///< Why there is no value, in perf's words: "<not supported>".
};

/// Fails if no line is a counter.
Result<std::vector<PerfCounter>> read_counters(std::string_view printed);

/// {"tool": "perf", "command": "stat", "counters": [...]}.
std::string to_json(const std::vector<PerfCounter>& counters);

/// For people: a line for each counter, and one for all that have the same reason to be missing.
std::string summary_of(const std::vector<PerfCounter>& counters);

/// False if no sample was taken: then perf's flame graph script prints a root without children, in its JSON and in its
/// page, and `perf script` prints nothing.
bool has_stacks(std::string_view printed);

}  // namespace syscost::profilers
