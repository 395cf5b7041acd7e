// SPDX-License-Identifier: MIT
//
// The number to compare a known count with: trips into the kernel if the backend sees them, else calls.
#pragma once

#include <string_view>

#include "syscost/cost.h"

namespace conformance {

/// The same where nothing is interrupted, denied or left in flight.
inline syscost::Count entries_or_calls(const syscost::Cost& cost, std::string_view name) {
  const syscost::Count entries = cost.entries(name);
  return entries.has_value() ? entries : cost.calls(name);
}

}  // namespace conformance
