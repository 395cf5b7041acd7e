// SPDX-License-Identifier: MIT
#include "fuzz_trace.h"

#include <string_view>
#include <vector>

#include "commands/trace/trace.h"
#include "otlp/encode.h"
#include "otlp/spans.h"
#include "require.h"
#include "trace/trace_file.h"

namespace syscost::bench::fuzz {
namespace {

using syscost::fuzz::require;

bool is_part(std::string_view text, const std::vector<char>& bytes) {
  return text.empty() || (text.data() >= bytes.data() && text.data() + text.size() <= bytes.data() + bytes.size());
}

/// Spans of calls lie in the span of their window.
void check_spans(const trace::TraceFile& file) {
  const trace::Slice* own = file.window();
  otlp::Span window;
  window.start_unix_ns = 1'795'225'951'000'000'000;
  window.end_unix_ns = window.start_unix_ns + (own != nullptr ? own->took_ns.value_or(0) : 0);
  static_cast<void>(otlp::is_trace_of(file, window, file.process));
  if (window.end_unix_ns < window.start_unix_ns) return;  // no row has such a time
  std::size_t index = 0;
  constexpr std::size_t kMost = 100;
  for (const trace::Call* call : otlp::calls_within(file, kMost)) {
    const otlp::Span span = otlp::call_span(window, file, *call, index++);
    require(window.start_unix_ns <= span.start_unix_ns && span.start_unix_ns <= span.end_unix_ns &&
                span.end_unix_ns <= window.end_unix_ns,
            "a call lies in its window");
    static_cast<void>(otlp::span_json(span));
  }
}

}  // namespace

void read_any_trace(const std::uint8_t* data, std::size_t size) {
  csv::Problems problems;
  const trace::TraceFile file = trace::read_trace("fuzz", std::vector<char>(data, data + size), problems);
  require(!file.calls.empty() || !file.slices.empty() || !file.program.empty() || file.process != 0 ||
              !problems.empty() || size != 0,
          "an empty file is a problem");
  commands::ShownTrace shown{file, {}};
  for (const trace::Call& call : file.calls) {
    require(is_part(call.name, file.bytes) && is_part(call.result, file.bytes) && is_part(call.site, file.bytes),
            "a text is a part of the file");
    require(call.first_note + call.note_count <= file.notes.size(), "a call's arguments are in the list");
    require(call.categories < file.categories.size(), "a call's categories are in the list");
    shown.calls.push_back(&call);
  }
  for (const trace::Slice& slice : file.slices)
    require(is_part(slice.name, file.bytes), "a name is a part of the file");
  check_spans(file);
  constexpr std::size_t kNarrow = 40;
  (void)commands::trace_text(shown, render::Paint(true), kNarrow);
  (void)commands::trace_csv(shown);
  (void)commands::trace_json(shown);
}

}  // namespace syscost::bench::fuzz
