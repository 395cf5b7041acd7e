// SPDX-License-Identifier: MIT
//
// A call as a line of `strace -f -ttt -T`, which many tools read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/call_trace.h"

namespace syscost::session {

/// `4711 1767261600.123456789 close(3) = 0 <0.000000123>`, with its newline. `realtime_ns` is what is added to the
/// event's time to make it one since 1970. `site` stands between parentheses after the result, where strace explains
/// one: `close(3) = 0 (at src/log.cc:17 Log::batch+3) <0.000000123>`; empty = none.
std::string strace_line(const CallEvent& event, std::uint64_t realtime_ns, std::string_view site = {});

}  // namespace syscost::session
