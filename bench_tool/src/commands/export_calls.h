// SPDX-License-Identifier: MIT
//
// ExportedCalls: finds the traces of a run that is exported, and makes spans of their calls.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "cli/options.h"
#include "commands/window_traces.h"
#include "csv/problems.h"
#include "model/dataset.h"
#include "otlp/process_run.h"
#include "otlp/signals.h"

namespace syscost::bench::commands {

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

  /// What people must know of it, or "".
  std::string remark() const;

 private:
  const bool is_wanted_;
  const model::Dataset& data_;
  csv::Problems& problems_;
  WindowTraces traces_;
  std::size_t left_out_ = 0;
  std::size_t windows_ = 0;  ///< Of which calls were left out.
};

}  // namespace syscost::bench::commands
