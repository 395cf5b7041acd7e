// SPDX-License-Identifier: MIT
//
// The card of a test: everything that a report says about it, with the lines of the program that make its calls.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "findings/find.h"
#include "report/run.h"
#include "report/totals.h"
#include "stats/latency.h"
#include "stats/sites.h"

namespace syscost::bench::report {

/// A line for each site, in the order of `sites`, at most `most`; empty if there are none.
std::string lines_table(const std::vector<stats::SiteTotal>& sites, std::size_t most);

/// The lines of all tests, and a flame graph of them.
std::string lines_section(const std::vector<stats::SiteTotal>& sites);

/// The parts that are made for one card and then forgotten: those of all windows together are large.
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
