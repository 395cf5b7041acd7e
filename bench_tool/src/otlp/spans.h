// SPDX-License-Identifier: MIT
//
// Spans of a process: one for the process itself, and one for each of its windows.
//
// An attribute has the name of the CSV's column, after `syscost.`; docs/many-machines.md lists them.
#pragma once

#include "model/dataset.h"
#include "otlp/process_run.h"
#include "otlp/signals.h"

namespace syscost::bench::otlp {

/// The span of the whole process, which is the parent of those of its windows.
Span process_span(const model::Dataset& data, const ProcessRun& process);

/// The span of a window with PlacedWindow::is_span.
Span window_span(const model::Dataset& data, const ProcessRun& process, const PlacedWindow& window);

}  // namespace syscost::bench::otlp
