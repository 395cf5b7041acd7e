// SPDX-License-Identifier: MIT
//
// The report of the case program to the suite about its run: the backend's answer, in JSON.
//
// The two are different processes because strace must start the one from outside, and because a case may do to its
// process what no test runner survives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "syscost/cost.h"

namespace conformance {

struct MeasuredRow {
  std::uint64_t entries = 0, calls = 0, restarts = 0, in_flight = 0, no_return = 0, carried_in = 0, denied = 0;
  std::uint64_t latencies = 0;
  std::optional<std::uint64_t> bytes = {}, released = {},
                               short_calls = {};  ///< Empty = the backend does not know, or there are none.
  std::map<int, std::uint64_t> errors;
};

struct MeasuredWindow {
  bool available = false;
  std::string reason, how_to_fix;  // when not available
  std::uint64_t lost = 0;
  std::map<std::string, MeasuredRow> rows;
};

struct Measured {
  std::string missing;                            ///< The machine lacks this; nothing was run.
  std::map<std::string, MeasuredWindow> windows;  ///< By name; empty when no scope was opened (--bare).
  std::vector<std::string> problems;              ///< Faults that the case itself found.
};

MeasuredWindow to_measured(const syscost::Cost& cost);
std::string to_json(const Measured& measured);
/// Throws nlohmann's exceptions when `text` is not what to_json wrote.
Measured from_json(const std::string& text);

}  // namespace conformance
