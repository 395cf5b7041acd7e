// SPDX-License-Identifier: MIT
//
// The parts of a report: the windows of one run, and what the commands of bench found out about each.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"
#include "stats/window_summary.h"

namespace syscost::bench::report {

/// The numbers of a window in one run of its history.
struct HistoryPoint {
  std::string name;  ///< `run 17, commit 43cf755a, 2026-11-21 01:52`
  std::optional<double> calls;
  std::optional<double> wall_ns;
  std::vector<std::string> steps;  ///< The changes from this run on: `3 -> 102 calls: +99 write`.
  bool is_this = false;            ///< The run that the page is about.
};

/// A test, set-up, loop, benchmark or process.
struct Window {
  const model::Group* group = nullptr;
  stats::WindowSummary summary;
  std::vector<std::string> notes;     ///< Losses, and what a reader should notice: a sentence each.
  std::vector<HistoryPoint> history;  ///< The oldest first; empty or one point if there is none.
};

/// A run in the order in which a reader looks at it: the worst window first.
struct Run {
  const model::Dataset* data = nullptr;
  std::string line;  ///< Identifies it: `main.csv: run 17, commit 43cf755a0e1c, 2026-11-21T01:52:31Z`.
  std::vector<Window> windows;
  std::map<std::string, std::size_t, std::less<>> places;  ///< By the name of the window; see test_link().
};

/// The name of a test as a link to its line; if it has none, only as text.
std::string test_link(const Run& run, std::string_view name);

/// The unit of a window's figures: `call`, `iteration`, `launch` of a GPU kernel; empty: the whole window.
std::string_view unit_of(const stats::WindowSummary& window);

}  // namespace syscost::bench::report
