// SPDX-License-Identifier: MIT
//
// Runs one case inside the case program: markers for strace, a scope for the backend, the case's own steps.
#pragma once

#include "case.h"
#include "measured.h"

namespace conformance {

struct DriverOptions {
  bool open_scopes = true;  ///< false: only strace looks (--bare).
  /// Keep a scope open around everything (--nested). When the last scope of a process closes, the library asks the
  /// kernel whether its instrument was there all the time; with this, it asks after the end marker.
  bool nested = false;
};

/// Runs everything between `early` and `teardown`. The problems that the case reported are in the result.
Measured run_case(const Case& one, const DriverOptions& options);

/// The name a window has in strace's log.
std::string marker_name(const Case& one, const Window& window);

}  // namespace conformance
