// SPDX-License-Identifier: MIT
//
// Data points of a window: its times and losses, and the counts and latencies of its syscalls.
//
// Counts are gauges: a number of calls is complete when its window ends, and nothing adds to it later. From a sum,
// other programs would compute rates and growth over runs, which mean nothing here. Latencies are histograms with the
// bounds of our own buckets, so each value is in the bucket it was counted in.
#pragma once

#include <functional>

#include "csv/problems.h"
#include "model/dataset.h"
#include "otlp/signals.h"
#include "otlp/spans.h"

namespace syscost::bench::otlp {

/// How fine the histograms are.
enum class Buckets {
  octaves,  ///< One bucket for each power of two.
  fine      ///< All that were counted: eight for each power of two.
};

struct PointHandler {
  std::function<void(NumberPoint&&)> number;
  std::function<void(HistogramPoint&&)> histogram;
};

/// Hands out the points of a window. A histogram that contradicts its row is a problem, and is left out.
void window_points(const model::Dataset& data, const ProcessRun& process, const PlacedWindow& window, Buckets buckets,
                   const PointHandler& handle, csv::Problems& problems);

}  // namespace syscost::bench::otlp
