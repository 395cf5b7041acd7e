// SPDX-License-Identifier: MIT
//
// spans: the spans of a measured process, of its windows, and of the calls that --syscost_trace kept.
//
// A row says how long its window took, and not when it began. Only the process has a start in the file. So windows are
// laid out from there, one after the other, in the order of their rows, which is the order in which they ended: their
// durations are measured, their starts are derived. docs/decisions/0038 says why.
//
// The same row always has the same id, so a second export of a run sends the same spans again, and no new ones. An
// attribute has the name of the CSV's column, after `syscost.`; docs/many-machines.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv/problems.h"
#include "model/dataset.h"
#include "otlp/signals.h"
#include "trace/trace_file.h"

namespace syscost::bench::otlp {

/// `parts` as one text that no other parts have. No part may hold a NUL.
std::string key_of(std::initializer_list<std::string_view> parts);

/// 32 hexadecimal digits: 122 bits of a name-based UUID (SHA-1, RFC 9562) of the run's id.
std::string trace_id_of(std::string_view run_id);

/// 16 hexadecimal digits of such a UUID of a key.
std::string span_id_of(std::string_view key);

/// A window of the process. Times in ns since 1970.
struct PlacedWindow {
  std::uint32_t sample = 0;
  std::optional<std::size_t> owner;  ///< The window it ran in, an index into the same list; none: the process alone.
  bool is_span = false;              ///< False: a figure of a tool or of a GPU, without a place of its own.
  std::uint64_t start_unix_ns = 0;
  std::uint64_t end_unix_ns = 0;  ///< The start, if the duration was not measured.
};

/// The windows of one measured process, with their places in time.
struct ProcessRun {
  std::uint32_t context = 0;
  std::uint64_t pid = 0;
  std::string key;  ///< All that tells it from other processes.
  std::uint64_t start_unix_ns = 0;
  std::uint64_t end_unix_ns = 0;  ///< Derived: of the last window.
  std::vector<PlacedWindow> windows;
};

/// The processes of `data`, in the order of their first rows. A process without a start time is left out, and is a
/// problem.
std::vector<ProcessRun> process_runs(const model::Dataset& data, csv::Problems& problems);

/// Returns the attributes that all spans and points of a process share.
Attributes resource_of(const model::Dataset& data, const ProcessRun& process);

/// The span of the whole process, which is the parent of those of its windows.
Span process_span(const model::Dataset& data, const ProcessRun& process);

/// The span of a window with PlacedWindow::is_span.
Span window_span(const model::Dataset& data, const ProcessRun& process, const PlacedWindow& window);

/// `window` is the span of a window. True if `file` is the trace of this window: same process, name and duration. False
/// if the window excludes loops: its time is not one stretch, so its calls have no place in the span.
bool is_trace_of(const trace::TraceFile& file, const Span& window, std::uint64_t process);

/// The calls of `file` that lie in the window, in their order; at most `most`.
std::vector<const trace::Call*> calls_within(const trace::TraceFile& file, std::size_t most);

/// The span of a call of calls_within(), which is its `index`th. A trace says when each call began, counted from the
/// start of its window. So the place of a call in its window is measured, and it is as far from the true time as the
/// window's span is.
Span call_span(const Span& window, const trace::TraceFile& file, const trace::Call& call, std::size_t index);

}  // namespace syscost::bench::otlp
