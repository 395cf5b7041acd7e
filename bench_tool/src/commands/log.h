// SPDX-License-Identifier: MIT
//
// bench log: a test's history over runs and commits. compare shows whether two runs differ; log shows since when.
#pragma once

#include <deque>
#include <iosfwd>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "model/dataset.h"
#include "render/paint.h"
#include "stats/history.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int log(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// The history of one test.
struct TestLog {
  std::string test;  ///< As it is shown.
  const model::Dataset* data = nullptr;
  std::deque<stats::HistoryRun> runs;
};

/// `3 -> 102 calls: +99 write`, a line for the counts and one for each time; empty where nothing changed.
std::vector<std::string> step_lines(const stats::HistoryRun& run);

/// `run 17, commit 43cf755a, 2026-11-21 01:52`.
std::string name_of_run(const model::Dataset& data, const model::Context& context);

std::string log_text(const TestLog& log, std::size_t width, const render::Paint& paint);
std::string log_markdown(const TestLog& log);
std::string log_json(const TestLog& log);
std::string log_csv(const TestLog& log);

}  // namespace syscost::bench::commands
