// SPDX-License-Identifier: MIT
//
// Rules of a project: which counts may vary and which changes are intended, written down once instead of on each
// command line.
//
// They stand in the file from which `bench check` reads its budgets, so that the same holds in compare and ab. Changes
// may also be accepted by lines of commit messages (commands/accept_lines.h).
#pragma once

#include <string>
#include <vector>

#include "budgets/rules_file.h"
#include "cli/options.h"
#include "csv/problems.h"
#include "stats/accept.h"
#include "stats/count_policy.h"

namespace syscost::bench::commands {

struct ProjectRules {
  std::vector<budgets::Budget> budgets;
  std::vector<stats::Accept> accepts;
  std::vector<stats::RuleOfTests> rules_of_tests;
  bool has_rules = false;
  std::string line;  ///< `rules of syscost.toml: tolerate read=5%`; "" if there are none and the user named no file.
};

/// Reads the file `asked`, or syscost.toml of the current folder if there is one. Adds its rules before those of
/// `policy`, because the last of several tolerances applies.
/// Without accepts, those of the file are not mentioned.
ProjectRules add_rules_of_file(const std::string& asked, stats::CountPolicy& policy, csv::Problems& problems,
                               bool has_accepts = true);

/// Those of the file, and those of --accept-from.
std::vector<stats::Accept> accepts_of(std::vector<stats::Accept> of_file, const cli::Options& options,
                                      csv::Problems& problems);

/// Adds the rules of --config and the accepts to `options`. Returns ProjectRules::line.
std::string add_rules(cli::Options& options, csv::Problems& problems);

}  // namespace syscost::bench::commands
