// SPDX-License-Identifier: MIT
//
// Spans of the calls that --syscost_trace kept, below the span of their window.
//
// A trace says when each call began, counted from the start of its window. So the place of a call in its window is
// measured, and it is as far from the true time as the window's span is.
#pragma once

#include <cstddef>

#include "otlp/signals.h"
#include "trace/trace_file.h"

namespace syscost::bench::otlp {

/// `window` is the span of a window. True if `file` is the trace of this window: same process, name and duration. False
/// if the window excludes loops: its time is not one stretch, so its calls have no place in the span.
bool is_trace_of(const trace::TraceFile& file, const Span& window, std::uint64_t process);

/// The calls of `file` that lie in the window, in their order; at most `most`.
std::vector<const trace::Call*> calls_within(const trace::TraceFile& file, std::size_t most);

/// The span of a call of calls_within(), which is its `index`th.
Span call_span(const Span& window, const trace::TraceFile& file, const trace::Call& call, std::size_t index);

}  // namespace syscost::bench::otlp
