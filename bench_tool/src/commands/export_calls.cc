// SPDX-License-Identifier: MIT
#include "commands/export_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "commands/artifact.h"
#include "otlp/call_spans.h"
#include "trace/trace_file.h"

namespace syscost::bench::commands {
namespace {

namespace fs = std::filesystem;
using otlp::Span;
using trace::FoundTrace;
using trace::TraceFile;

/// As the plugin names the folder of a window.
std::string folder_name(const model::Dataset& data, const model::Sample& sample) {
  std::string name = data.text(sample.test);
  const std::string& window = data.text(sample.window);
  if (!window.empty()) name += (name.empty() ? "" : " ") + window;
  if (sample.repetition > 0) name += fmt::format(".{}", sample.repetition);
  return name;
}

}  // namespace

const std::vector<FoundTrace>& ExportedCalls::traces_of(const model::Context& context) {
  const std::string& csv = data_.files[context.file];
  const std::string folder = (fs::path(csv).parent_path() / kArtifacts).string();
  const std::string& run = data_.text(context.run_id);
  const auto [at, is_new] = traces_.try_emplace({folder, run});
  std::error_code error;
  if (is_new && fs::is_directory(folder, error)) {
    at->second = trace::find_traces(folder, trace::kTraceName, {run}, problems_);
  }
  return at->second;
}

void ExportedCalls::add(const otlp::ProcessRun& process, const otlp::PlacedWindow& window, Span& span,
                        const std::function<void(Span&&)>& take) {
  if (!is_wanted_ || window.owner) return;
  const model::Sample& sample = data_.samples[window.sample];
  const std::vector<FoundTrace>& all = traces_of(data_.contexts[process.context]);
  for (const FoundTrace& found : trace::in_folder_of(all, folder_name(data_, sample))) {
    std::optional<std::vector<char>> bytes = bytes_of(found.path, problems_);
    if (!bytes) continue;
    const TraceFile file = trace::read_trace(found.path, *std::move(bytes), problems_);
    if (!otlp::is_trace_of(file, span, process.pid)) continue;
    const std::vector<const trace::Call*> calls = otlp::calls_within(file, kMost);
    const std::uint64_t made = std::max<std::uint64_t>(sample.totals.calls.value_or(0), calls.size());
    const std::uint64_t left_out = made - calls.size();
    span.dropped_events =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(left_out, std::numeric_limits<std::uint32_t>::max()));
    span.attributes.add("syscost.calls_without_span", static_cast<std::int64_t>(left_out));
    left_out_ += left_out;
    windows_ += left_out == 0 ? 0 : 1;
    for (std::size_t i = 0; i < calls.size(); ++i) take(otlp::call_span(span, file, *calls[i], i));
    return;
  }
}

std::string ExportedCalls::remark() const {
  if (left_out_ == 0) return {};
  return fmt::format(
      "{} traced call{} of {} window{} {} no span: at most {} of each have one (--calls), and none that "
      "its trace had no room for; droppedEventsCount of the window's span says how many",
      left_out_, left_out_ == 1 ? "" : "s", windows_, windows_ == 1 ? "" : "s", left_out_ == 1 ? "has" : "have", kMost);
}

}  // namespace syscost::bench::commands
