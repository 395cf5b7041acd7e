// SPDX-License-Identifier: MIT
//
// bench log: a history over runs and commits. compare shows whether two runs differ; log shows since when: the causes
// of all tests, or the numbers of one test.
#pragma once

#include <deque>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "commands/compare/causes.h"
#include "judge/history.h"
#include "model/dataset.h"
#include "render/terminal.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int log(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// The history of one test.
struct TestLog {
  std::string test;  ///< As it is shown.
  const model::Dataset* data = nullptr;
  std::string count_rules;  ///< See commands/compare/count_rules.h.
  std::deque<judge::HistoryRun> runs;
};

/// The differences of a run from the run before.
struct LoggedRun {
  model::NameId run_id = model::kNoName;
  const model::Context* context = nullptr;
  std::vector<Cause> entered;
  std::vector<Cause> left;
  std::vector<std::string> in_doubt;  ///< Tests with counts that differ, perhaps by chance.
  std::string not_compared;           ///< A sentence; "" if all could be.
};

/// The history of all tests. It must not move: causes point into it.
struct CauseLog {
  model::Dataset data;
  std::string count_rules;
  std::deque<LoggedRun> runs;           ///< The oldest first.
  std::deque<judge::Comparison> tests;  ///< Those of the causes; without windows.
};

/// Compares each run with the one before, test by test.
void find_causes(const judge::CountPolicy& policy, CauseLog& log);

/// `3 -> 102 calls: +99 write`, a line for the counts and one for each time; empty where nothing changed.
std::vector<std::string> step_lines(const judge::HistoryRun& run);

/// `run 17, commit 43cf755a, 2026-11-21 01:52`.
std::string name_of_run(const model::Dataset& data, const model::Context& context);

std::string log_text(const TestLog& log, std::size_t width, const render::Paint& paint);
std::string log_markdown(const TestLog& log);
std::string log_json(const TestLog& log);
std::string log_csv(const TestLog& log);

std::string log_text(const CauseLog& log, std::size_t width, const render::Paint& paint);
std::string log_markdown(const CauseLog& log);
std::string log_json(const CauseLog& log);
std::string log_csv(const CauseLog& log);

}  // namespace syscost::bench::commands
