// SPDX-License-Identifier: MIT
//
// bench findings: what tests do that costs more than it has to, with figures, and what to do about it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "findings/find.h"
#include "model/dataset.h"
#include "render/ci_report.h"
#include "render/terminal.h"

namespace syscost::bench::commands {

/// Returns the exit code: 0, unless --fail-on names a rule that has a finding.
int findings_command(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// A RUN with what was found in it.
struct FoundRun {
  std::string source;  ///< The line above it.
  model::Dataset data;
  findings::Findings found;
};

std::string findings_text(const FoundRun& run, const cli::Options& options, const render::Paint& paint);
std::string findings_markdown(const FoundRun& run, const cli::Options& options);
std::string findings_json(const FoundRun& run);
std::string findings_csv(const FoundRun& run);
/// For SARIF and GitHub: a case for each finding.
render::CiReport findings_ci(const FoundRun& run, const model::TestLocations& locations);

/// `12 findings in 9 of 120 tests and other windows`
std::string findings_title(const findings::Findings& found);
/// The rules that could not be checked, a line for each reason: `needs a trace (--syscost_trace): reopened-file, ...`
std::vector<std::string> not_checked_lines(const findings::Findings& found);
/// The table of rules: --rules.
std::string rules_text(const cli::Options& options);

/// The lines below a summary: at most five findings, and how many more there are; "" if there is none.
std::string findings_below(const findings::Findings& found, const render::Paint& paint, std::size_t width);
std::string findings_below_markdown(const findings::Findings& found);

}  // namespace syscost::bench::commands
