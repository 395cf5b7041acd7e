// SPDX-License-Identifier: MIT
#include "commands/export_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "commands/artifact.h"
#include "otlp/call_spans.h"
#include "trace/artifact_bytes.h"
#include "trace/trace_file.h"

namespace syscost::bench::commands {
namespace {

using otlp::Span;
using trace::FoundTrace;
using trace::TraceFile;

}  // namespace

void ExportedCalls::add(const otlp::ProcessRun& process, const otlp::PlacedWindow& window, Span& span,
                        const std::function<void(Span&&)>& take) {
  if (!is_wanted_ || window.owner) return;
  const model::Sample& sample = data_.samples[window.sample];
  for (const FoundTrace& found : traces_.candidates(sample)) {
    std::optional<std::vector<char>> bytes = trace::artifact_bytes(found.path, problems_);
    if (!bytes) continue;
    const TraceFile file = trace::read_trace(found.path, *std::move(bytes), problems_);
    if (!otlp::is_trace_of(file, span, process.pid)) continue;
    const std::vector<const trace::Call*> calls = otlp::calls_within(file, kMost);
    // A trace has an event for each trip into the kernel. Without a count, the number of calls without one is unknown.
    const model::Measured& counted = sample.totals.calls.has_value() ? sample.totals.calls : sample.totals.entries;
    if (!counted.has_value()) {
      for (std::size_t i = 0; i < calls.size(); ++i) take(otlp::call_span(span, file, *calls[i], i));
      return;
    }
    const std::uint64_t made = std::max<std::uint64_t>(*counted, calls.size());
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
