// SPDX-License-Identifier: MIT
#include "measured.h"

#include <nlohmann/json.hpp>

#include "case.h"

namespace conformance {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasuredRow, entries, calls, restarts, in_flight, no_return, carried_in, denied,
                                   latencies, errors)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasuredWindow, available, reason, how_to_fix, lost, rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measured, missing, windows, problems)

MeasuredWindow to_measured(const syscost::Cost& cost) {
  MeasuredWindow window;
  window.available = cost.available();
  if (!window.available) {
    window.reason = cost.unavailable()->reason;
    window.how_to_fix = cost.unavailable()->how_to_fix;
    return window;
  }
  window.lost = cost.lost().value_or(0);
  for (const syscost::SyscallCost& one : cost.syscalls()) {
    MeasuredRow row = {one.entries,   one.calls,           one.restarts,
                       one.in_flight, one.no_return,       one.carried_in,
                       one.denied,    one.latency.count(), {}};
    for (const syscost::SyscallCost::Error& error : one.errors) row.errors[error.number] += error.count;
    // Two rows of one name would hide each other.
    require(window.rows.emplace(one.name, row).second, "two rows are named " + one.name);
  }
  return window;
}

std::string to_json(const Measured& measured) {
  return nlohmann::json(measured).dump(1) + "\n";
}

Measured from_json(const std::string& text) {
  return nlohmann::json::parse(text).get<Measured>();
}

}  // namespace conformance
