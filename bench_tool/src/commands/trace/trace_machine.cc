// SPDX-License-Identifier: MIT
//
// trace for machines: times in nanoseconds from the start of the test.

#include "commands/trace/trace.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using render::Json;
using trace::Call;
using trace::Note;
using trace::Slice;
using trace::TraceFile;

Json text_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json call_json(const TraceFile& file, const Call& call) {
  Json arguments = Json::array();
  for (std::size_t i = 0; i < call.note_count; ++i) {
    const Note& note = file.notes[call.first_note + i];
    arguments.push_back({{"name", note.name}, {"value", note.text}});
  }
  return {{"at_ns", at_ns(file, call)},
          {"took_ns", render::to_json(call.took_ns)},
          {"thread", call.thread},
          {"syscall", call.name},
          {"classes", render::classes_json(file.categories[call.categories])},
          {"arguments", std::move(arguments)},
          {"result", call.result},
          {"error", text_or_null(call.error())},
          {"site", text_or_null(call.site)}};
}

Json slice_json(const TraceFile& file, const Slice& slice) {
  return {{"name", slice.name},
          {"at_ns", static_cast<std::int64_t>(slice.start_ns - file.origin_ns())},
          {"took_ns", render::to_json(slice.took_ns)},
          {"calls", render::to_json(slice.calls)},
          {"events", render::to_json(slice.events)},
          {"trace_lost", render::to_json(slice.lost)}};
}

}  // namespace

std::string trace_json(const ShownTrace& shown) {
  const TraceFile& file = shown.file;
  Json scopes = Json::array();
  for (const Slice& slice : file.slices) {
    if (!slice.is_window) scopes.push_back(slice_json(file, slice));
  }
  Json events = Json::array();
  for (const Call* call : shown.calls) events.push_back(call_json(file, *call));
  const Slice* window = file.window();
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "trace"},
                       {"file", file.path},
                       {"program", file.program},
                       {"process", file.process},
                       {"window", window != nullptr ? slice_json(file, *window) : Json(nullptr)},
                       {"scopes", std::move(scopes)},
                       {"events", std::move(events)}});
}

std::string trace_csv(const ShownTrace& shown) {
  render::CsvWriter csv({"at_ns", "took_ns", "thread", "syscall", "arguments", "result", "error", "site"});
  for (const Call* call : shown.calls) {
    csv.number(static_cast<double>(at_ns(shown.file, *call)));
    csv.number(call->took_ns ? std::optional(static_cast<double>(*call->took_ns)) : std::nullopt);
    csv.number(static_cast<double>(call->thread)).cell(call->name);
    csv.cell(arguments_text(shown.file, *call)).cell(call->result).cell(call->error());
    csv.cell(call->site).end_row();
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
