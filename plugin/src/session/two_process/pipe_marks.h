// SPDX-License-Identifier: MIT
//
// The words that the two processes exchange beside the adapter's own lines.
#pragma once

#include <string_view>

namespace syscost::session::pipe_marks {

/// The variable that makes a process a counting process: PID:DESCRIPTOR:REQUEST. The process id is part of it because
/// programs that a measured body starts inherit the variable, and are no counting processes. Google Benchmark's own
/// main executes itself once more, and keeps its id.
inline constexpr const char* kVariable = "SYSCOST_INTERNAL_COUNTING";
/// The last line: all lines were sent.
inline constexpr std::string_view kWhole = "\x04";
/// A line: exit() or quick_exit() was called.
inline constexpr std::string_view kLeaving = "\x05";
/// On stderr, which is another pipe: the measured body closed the first one, so nothing more can be sent.
inline constexpr std::string_view kClosed = "\x06";

}  // namespace syscost::session::pipe_marks
