// SPDX-License-Identifier: MIT
#include "commands/export_text.h"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "commands/export.h"
#include "csv/problems.h"
#include "exports/long_table.h"
#include "exports/openmetrics.h"
#include "otlp/metrics.h"
#include "otlp/process_run.h"

namespace syscost::bench::commands {
namespace {

/// Gives all points to `sink`; calls `after_process` when those of a process are there.
template <class Sink, class AfterProcess>
void fill(Sink& sink, const model::Dataset& data, const std::vector<otlp::ProcessRun>& processes, otlp::Buckets buckets,
          csv::Problems& problems, const AfterProcess& after_process) {
  const otlp::PointHandler handle = {[&](otlp::NumberPoint&& point) { sink.add(point); },
                                     [&](otlp::HistogramPoint&& point) { sink.add(point); }};
  for (const otlp::ProcessRun& process : processes) {
    sink.begin_process(otlp::resource_of(data, process));
    for (const otlp::PlacedWindow& window : process.windows) {
      otlp::window_points(data, process, window, buckets, handle, problems);
    }
    after_process();
  }
}

}  // namespace

int export_text(const cli::Options& options, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  const model::Dataset data = load_exported_runs(options, problems);
  const std::vector<otlp::ProcessRun> processes = exported_processes(options, data, problems, err);
  if (processes.empty()) return cli::kExitBadInput;
  const otlp::Buckets buckets = options.is_fine ? otlp::Buckets::fine : otlp::Buckets::octaves;
  if (options.to.format == "openmetrics") {
    exports::OpenMetrics metrics;
    fill(metrics, data, processes, buckets, problems, [] {});
    out << metrics.text();
  } else {
    exports::LongTable table;
    fill(table, data, processes, buckets, problems, [&] { out << table.take(); });
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
