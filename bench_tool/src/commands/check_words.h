// SPDX-License-Identifier: MIT
//
// The words of check for all formats, beside those of compare: the text of a limit, what to do next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/check.h"
#include "commands/site_text.h"
#include "stats/false_alarms.h"

namespace syscost::bench::commands {

/// A limit that is exceeded, or that could not be checked because nothing was measured for it.
struct BudgetLine {
  bool fails = true;
  bool is_judged = true;
  std::string where;  ///< `syscost.toml:12`; of one that only warns `, warning` follows.
  std::string test;
  std::string title;
  std::string value;
  std::string limit;
  std::string reason;
  std::vector<SiteLine> sites = {};  ///< The lines that reach it, the most expensive first; empty: unknown.
};
/// Those that fail first.
std::vector<BudgetLine> budget_lines(const CheckSettings& settings, const CheckResult& result);

/// Returns the lines of the program that make the calls, errors or kernel time above a budget, and how much each makes:
/// at most `most` lines and one for the rest. Empty if they are not known.
std::vector<SiteLine> budget_sites(const budgets::Budget& budget, const budgets::Finding& finding,
                                   const CheckResult& result, std::size_t most);

/// `calls of openat is 5, and may be at most 4; each file is opened once (syscost.toml:12)`.
std::string sentence_of(const BudgetLine& line);

std::optional<stats::FalseAlarms> false_alarms(const CheckResult& result);
/// Lines below the tables: how many false alarms are expected, what to do next.
std::string check_notes(const CheckResult& result, const CompareResult& compared);

}  // namespace syscost::bench::commands
