// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/export/export.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kExportFooter =
    R"(Writes tests as spans, and their counts, times and latencies as metrics, in the JSON of the OpenTelemetry protocol:
into a FILE (- for standard output), or to a receiver at URL by HTTP, packed by gzip. bench adds /v1/traces and
/v1/metrics to URL. Without --otlp it takes OTEL_EXPORTER_OTLP_ENDPOINT. Headers, for example a password, come from
OTEL_EXPORTER_OTLP_HEADERS. The same run has the same ids each time. docs/many-machines.md lists all names.
If the receiver is busy (429, 502, 503, 504) or does not listen, bench tries again, until --timeout.
--format prints the metrics as text for Prometheus (openmetrics), or as a table for databases (csv).
Exit codes: 0 all was taken; 2 usage, input or I/O, or the receiver refused something.

Examples:
  bench export out.csv --otlp http://localhost:4318
  bench export out.csv --otlp run.jsonl     a file, one request a line
  bench export out.csv --otlp http://localhost:9090/api/v1/otlp --only metrics     Prometheus
  bench export out.csv --format openmetrics >run.om
  bench export results/ --recursive --format csv >runs.csv     for DuckDB and pandas (docs/many-machines.md)
  bench export results/ --recursive --dry-run      says what would be sent, and where)";

void add_export(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("RUN", options.runs, cli::kRunHelp)->required();
  auto* otlp =
      line.add_option("--otlp", options.to.otlp, "Where to: a file, - or an address (OTEL_EXPORTER_OTLP_ENDPOINT)")
          ->type_name("FILE|URL")
          ->check(cli::not_empty());
  auto* format = line.add_option("--format", options.to.format,
                                 "Instead of OTLP, print text: openmetrics, or csv, a table with one number a line");
  format->check(CLI::IsMember({"openmetrics", "csv"}))->excludes(otlp);
  line.add_option("--only", options.to.only,
                  "traces or metrics; windows = both, without spans of traced calls (--syscost_trace)")
      ->check(CLI::IsMember({"traces", "metrics", "windows"}));
  line.add_flag("--fine", options.is_fine,
                "Latencies in all buckets, 8 for each power of two; without it, one for each power of two");
  line.add_option("--timeout", options.to.timeout_s, "Time limit of all requests and waits together, in seconds (60)")
      ->type_name("SECONDS");
  line.add_flag("--dry-run", options.to.is_dry_run, "Say what would be sent, and send or write nothing");
  cli::add_test_option(line, options);
  cli::add_run_options(line, options);
}

std::string fault_of_export(cli::Options& options) {
  constexpr double kMost = 86'400;
  const double timeout_s = options.to.timeout_s;
  if (!std::isfinite(timeout_s) || timeout_s <= 0 || timeout_s > kMost) {
    return "--timeout takes a number of seconds, above 0 and at most 86400";
  }
  if (!options.to.format.empty() &&
      (!options.to.only.empty() || options.to.is_dry_run || timeout_s != cli::ExportOptions().timeout_s)) {
    return "--only, --timeout and --dry-run are for OTLP; --format prints all numbers";
  }
  return {};
}

}  // namespace

constinit const cli::Command kExportCommand = {
    .name = "export",
    .group = "Hand over",
    .about = "Hand a run over: to OpenTelemetry, to Prometheus, as a table for databases",
    .footer = kExportFooter,
    .add = add_export,
    .check = fault_of_export,
    .run = [](const cli::Options& options, const render::Paint&, std::ostream& out,
              std::ostream& err) { return export_run(options, out, err); },
};

}  // namespace syscost::bench::commands
