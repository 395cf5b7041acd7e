// SPDX-License-Identifier: MIT
//
// The card of a test: everything that a report says about it.
#pragma once

#include <string>
#include <vector>

#include "findings/finding.h"
#include "report/histogram.h"
#include "report/run.h"
#include "stats/latency.h"
#include "stats/site_totals.h"

namespace syscost::bench::report {

/// What is made for one card and then forgotten: that of all windows together is large.
struct CardParts {
  std::vector<stats::SyscallLatency> latencies;
  std::vector<stats::SiteTotal> sites;  ///< The most expensive first; empty if the run does not name lines.
  std::vector<const findings::Finding*> findings;
  std::string timeline;       ///< HTML; empty if there is no trace.
  std::string critical_path;  ///< The same; empty if the scheduler's events were not kept.
};

/// HTML.
std::string card(const Window& window, const CardParts& parts, const LatencyAxis& axis);

}  // namespace syscost::bench::report
