// SPDX-License-Identifier: MIT
#include "otlp/call_spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "otlp/ids.h"

namespace syscost::bench::otlp {
namespace {

using trace::Call;
using trace::TraceFile;

/// The text of an attribute; empty if there is none.
std::string text_of(const Span& span, std::string_view key) {
  for (const auto& [name, value] : span.attributes.list()) {
    if (name != key) continue;
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : std::string();
  }
  return {};
}

/// As the plugin names a window in a trace: `test Log.Write`, `suite Log set-up`.
std::string spoken_name(const Span& window) {
  std::string name = text_of(window, "syscost.kind");
  for (const char* part : {"syscost.test", "syscost.window"}) {
    const std::string text = text_of(window, part);
    if (!text.empty()) name += ' ' + text;
  }
  return name;
}

std::string arguments_of(const TraceFile& file, const Call& call) {
  std::string text;
  for (std::size_t i = 0; i < call.note_count; ++i) {
    text.append(i == 0 ? "" : ", ").append(file.notes[call.first_note + i].text);
  }
  return text;
}

}  // namespace

bool is_trace_of(const TraceFile& file, const Span& window, std::uint64_t process) {
  const trace::Slice* own = file.window();
  return own != nullptr && file.process == process && own->name == spoken_name(window) &&
         own->took_ns == window.end_unix_ns - window.start_unix_ns;
}

std::vector<const Call*> calls_within(const TraceFile& file, std::size_t most) {
  std::vector<const Call*> calls;
  const trace::Slice* own = file.window();
  if (own == nullptr || !own->took_ns) return calls;
  for (const Call& call : file.calls) {
    if (calls.size() == most) break;
    if (call.start_ns < own->start_ns) continue;
    const std::uint64_t at_ns = call.start_ns - own->start_ns;
    if (at_ns <= *own->took_ns && call.took_ns.value_or(0) <= *own->took_ns - at_ns) calls.push_back(&call);
  }
  return calls;
}

Span call_span(const Span& window, const TraceFile& file, const Call& call, std::size_t index) {
  Span span;
  span.trace_id = window.trace_id;
  span.span_id = span_id_of(key_of({"call", window.span_id, fmt::format("{}", index)}));
  span.parent_span_id = window.span_id;
  span.name = call.name;
  span.start_unix_ns = window.start_unix_ns + (call.start_ns - file.window()->start_ns);
  span.end_unix_ns = span.start_unix_ns + call.took_ns.value_or(0);
  Attributes& all = span.attributes;
  all.add("syscost.kind", "call");
  all.add("syscost.test", text_of(window, "syscost.test"));
  all.add("syscost.window", text_of(window, "syscost.window"));
  all.add("syscost.syscall", std::string(call.name));
  all.add("syscost.class", file.categories[call.categories]);
  all.add("syscost.arguments", arguments_of(file, call));
  all.add("syscost.result", std::string(call.result));
  all.add("syscost.site", std::string(call.site));
  all.add("error.type", std::string(call.error()));
  all.add("thread.id", std::int64_t{call.thread});
  all.add("syscost.start", "derived");
  all.add("syscost.duration", call.took_ns ? "measured" : "not measured");
  return span;
}

}  // namespace syscost::bench::otlp
