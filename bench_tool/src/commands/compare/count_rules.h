// SPDX-License-Identifier: MIT
//
// Rules for counts: which counts may vary, by a file of the project, and which changes are intended, also by the accept
// lines of a commit message. A project writes them down once, instead of on each command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "budgets/rules_file.h"
#include "cli/options.h"
#include "csv/problems.h"
#include "judge/accept.h"
#include "judge/count_policy.h"

namespace syscost::bench::commands {

/// The rules of the file from which `bench check` reads its budgets, so that the same holds in compare and ab.
struct ProjectRules {
  std::vector<budgets::Budget> budgets;
  std::vector<judge::Accept> accepts;
  std::vector<judge::RuleOfTests> rules_of_tests;
  bool has_rules = false;
  std::string line;  ///< `rules of syscost.toml: tolerate read=5%`; "" if there are none and the user named no file.
};

/// Reads the file `asked`, or syscost.toml of the current folder if there is one. Adds its rules before those of
/// `policy`, because the last of several tolerances applies.
/// Without accepts, those of the file are not mentioned.
ProjectRules add_rules_of_file(const std::string& asked, judge::CountPolicy& policy, csv::Problems& problems,
                               bool has_accepts = true);

/// Those of the file, and those of --accept-from.
std::vector<judge::Accept> accepts_of(std::vector<judge::Accept> of_file, const cli::Options& options,
                                      csv::Problems& problems);

/// Adds the rules of --config and the accepts to `options`. Returns ProjectRules::line.
std::string add_rules(cli::Options& options, csv::Problems& problems);

/// Reads accept lines, the changes of counts that a commit message says are intended, from `text`, the contents of
/// `file`. Each line that is wrong is noted in `problems`, with how to write it.
///
///     Syscost-Accept: Log.Reads: +1 openat -- each file is opened twice now
///     Syscost-Accept: Log.* -- the log is in memory now
///     Syscost-Accept: "Scenario: a log": fewer syncs -- a pattern with a colon and a blank stands in quotes
///
/// A line that begins with a blank continues the one before, as in git's trailers. All other text is ignored.
std::vector<judge::Accept> parse_accept_lines(const std::string& file, std::string_view text, csv::Problems& problems);

/// The same of a file, or of standard input if `file` is `-`.
std::vector<judge::Accept> read_accept_lines(const std::string& file, csv::Problems& problems);

/// The line that accepts what is red in the counts of `row`: `Syscost-Accept: Log.Reads: +1 openat -- REASON`.
std::string accept_line(const judge::Comparison& row);

}  // namespace syscost::bench::commands
