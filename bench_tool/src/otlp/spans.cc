// SPDX-License-Identifier: MIT
#include "otlp/spans.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "model/group.h"
#include "otlp/ids.h"

namespace syscost::bench::otlp {
namespace {

using model::Sample;
using model::Totals;

std::string process_span_id(const ProcessRun& process) {
  return span_id_of(key_of({"process", process.key}));
}

std::string window_span_id(const model::Dataset& data, const ProcessRun& process, const Sample& sample) {
  return span_id_of(
      key_of({"window", process.key, data.text(sample.kind), data.text(sample.test), data.text(sample.window),
              data.text(sample.parent), data.text(sample.origin), fmt::format("{}", sample.repetition)}));
}

/// A test or benchmark without an outcome ended its process.
void set_status(const model::Dataset& data, const Sample& sample, Span& span) {
  const std::string& kind = data.text(sample.kind);
  const std::string& outcome = data.text(sample.totals.outcome);
  if (outcome == "passed") span.status = Status::ok;
  if (outcome == "failed") span.status = Status::error;
  if (outcome.empty() && (kind == "test" || kind == "benchmark")) {
    span.status = Status::error;
    span.status_message = sample.totals_line == 0 ? "its `test` row is missing: the process may have been killed"
                                                  : "the test ended its process";
  }
}

}  // namespace

Span process_span(const model::Dataset& data, const ProcessRun& process) {
  const model::Context& context = data.contexts[process.context];
  Span span;
  span.trace_id = trace_id_of(data.text(context.run_id));
  span.span_id = process_span_id(process);
  span.name = data.text(context.program);
  span.start_unix_ns = process.start_unix_ns;
  span.end_unix_ns = process.end_unix_ns;
  span.attributes.add("syscost.kind", "program");
  span.attributes.add("syscost.start", "measured");
  span.attributes.add("syscost.duration", "derived");
  span.attributes.add("syscost.backend", data.text(context.backend));
  return span;
}

Span window_span(const model::Dataset& data, const ProcessRun& process, const PlacedWindow& window) {
  const Sample& sample = data.samples[window.sample];
  const Totals& totals = sample.totals;
  const model::Context& context = data.contexts[process.context];
  Span span;
  span.trace_id = trace_id_of(data.text(context.run_id));
  span.span_id = window_span_id(data, process, sample);
  span.parent_span_id = window.owner
                            ? window_span_id(data, process, data.samples[process.windows[*window.owner].sample])
                            : process_span_id(process);
  model::Group group;
  group.kind = sample.kind;
  group.test = sample.test;
  group.window = sample.window;
  group.parent = sample.parent;
  group.origin = sample.origin;
  span.name = model::base_name(data, group);
  span.start_unix_ns = window.start_unix_ns;
  span.end_unix_ns = window.end_unix_ns;
  set_status(data, sample, span);

  Attributes& all = span.attributes;
  all.add("syscost.kind", data.text(sample.kind));
  all.add("syscost.test", data.text(sample.test));
  all.add("syscost.window", data.text(sample.window));
  all.add("syscost.parent", data.text(sample.parent));
  all.add("syscost.repetition", std::int64_t{sample.repetition});
  all.add("syscost.outcome", data.text(totals.outcome));
  all.add("syscost.start", "derived");
  all.add("syscost.duration", totals.wall_ns.has_value() ? "measured" : "not measured");
  all.add("syscost.backend", data.text(context.backend));
  all.add("syscost.detail", data.text(totals.excludes));
  static constexpr std::array<std::pair<const char*, model::Measured Totals::*>, 23> kNumbers = {
      {{"syscost.iterations", &Totals::iterations},
       {"syscost.counted_iterations", &Totals::counted_iterations},
       {"syscost.wall_ns", &Totals::wall_ns},
       {"syscost.user_ns", &Totals::user_ns},
       {"syscost.system_ns", &Totals::system_ns},
       {"syscost.cpu_ns", &Totals::cpu_ns},
       {"syscost.overhead_estimate_ns", &Totals::overhead_estimate_ns},
       {"syscost.total_entries", &Totals::entries},
       {"syscost.total_calls", &Totals::calls},
       {"syscost.total_errors", &Totals::errors},
       {"syscost.total_kernel_ns", &Totals::kernel_ns},
       {"syscost.total_bytes_read", &Totals::bytes_read},
       {"syscost.total_bytes_written", &Totals::bytes_written},
       {"syscost.total_bytes_mapped", &Totals::bytes_mapped},
       {"syscost.total_bytes_unmapped", &Totals::bytes_unmapped},
       {"syscost.peak_rss_bytes", &Totals::peak_rss_bytes},
       {"syscost.descriptors_left", &Totals::descriptors_left},
       {"syscost.threads_left", &Totals::threads_left},
       {"syscost.children_left", &Totals::children_left},
       {"syscost.mapped_bytes_left", &Totals::mapped_bytes_left},
       {"syscost.peak_mapped_bytes", &Totals::peak_mapped_bytes},
       {"syscost.late", &Totals::late},
       {"syscost.lost", &Totals::lost}}};
  for (const auto& [name, number] : kNumbers) all.add(name, totals.*number);
  return span;
}

}  // namespace syscost::bench::otlp
