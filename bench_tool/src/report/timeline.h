// SPDX-License-Identifier: MIT
//
// The timeline of a trace: a lane for each thread, a bar for each call, and the calls that took longest.
#pragma once

#include <string>

#include "trace/trace_file.h"

namespace syscost::bench::report {

/// Empty if the trace has no call.
std::string timeline(const trace::TraceFile& file);

}  // namespace syscost::bench::report
