// SPDX-License-Identifier: MIT
//
// A call as a line of `strace -f -ttt -T`, which many tools read.
#pragma once

#include <cstdint>
#include <string>

#include "core/call_trace.h"

namespace syscost::session {

/// `4711 1767261600.123456789 close(3) = 0 <0.000000123>`, with its newline. `realtime_ns` is what is added to the
/// event's time to make it one since 1970.
std::string strace_line(const CallEvent& event, std::uint64_t realtime_ns);

}  // namespace syscost::session
