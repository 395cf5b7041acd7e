// SPDX-License-Identifier: MIT
//
// bench export: a run for programs that keep the history of many, by the OpenTelemetry protocol or as text.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "commands/shared/artifacts.h"
#include "csv/problems.h"
#include "model/dataset.h"
#include "otlp/signals.h"
#include "otlp/spans.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int export_run(const cli::Options& options, std::ostream& out, std::ostream& err);

/// The runs that the command line chooses, with their histograms.
model::Dataset load_exported_runs(const cli::Options& options, csv::Problems& problems);

/// The processes of these runs. If there is none, it says so with the problems.
std::vector<otlp::ProcessRun> exported_processes(const cli::Options& options, const model::Dataset& data,
                                                 csv::Problems& problems, std::ostream& err);

/// Finds the traces of a run that is exported, and makes spans of their calls.
class ExportedCalls {
 public:
  /// Spans for each window: its first calls.
  static constexpr std::size_t kMost = 1000;

  /// `data` and `problems` must outlive it. Looks into folders.
  ExportedCalls(const cli::Options& options, const model::Dataset& data, csv::Problems& problems)
      : is_wanted_(options.to.only != "windows"), data_(data), problems_(problems), traces_(data, problems) {}

  /// `span` is the span of `window`. If there is a trace of this window, hands over a span for each of its calls. Calls
  /// that get no span are counted in `span.dropped_events`.
  void add(const otlp::ProcessRun& process, const otlp::PlacedWindow& window, otlp::Span& span,
           const std::function<void(otlp::Span&&)>& take);

  /// A remark that people must know, or "".
  std::string remark() const;

 private:
  const bool is_wanted_;
  const model::Dataset& data_;
  csv::Problems& problems_;
  WindowTraces traces_;
  std::size_t left_out_ = 0;
  std::size_t windows_ = 0;  ///< Windows with calls that were left out.
};

/// export --format: writes the runs as text for databases on standard output, as `options.to.format` says. Returns the
/// exit code.
int export_text(const cli::Options& options, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
