// SPDX-License-Identifier: MIT
//
// Accept: a change of a test's counts that the project intends. What it matches is shown and does not fail the gate.
//
// It is about differences of counts alone: a test that failed, is missing or was not counted completely stays what it
// is. An accept turns nothing red, and what it does not match is judged as if it were not there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/test_patterns.h"
#include "stats/change_choice.h"
#include "stats/verdict.h"

namespace syscost::bench::stats {

struct Accept {
  std::string where;  ///< `syscost.toml:12`
  model::TestPatterns tests;
  ChangeChoice changes;
  std::string reason;
  bool is_in_file = false;  ///< It stays there until someone removes it; that of a commit message does not.
};

/// An entry of a project's file for some tests, `volatile` or `tolerate`.
struct RuleOfTests {
  std::string name;  ///< As lines name it: `tolerate read=3 in Log.*, !Log.Polls (syscost.toml:12)`.
  model::TestPatterns tests;
};

/// A line for each entry that no test of `rows` has a name for.
std::vector<std::string> unused_rules(const std::vector<RuleOfTests>& rules, const std::vector<Comparison>& rows);

/// The reason as it is shown: on one line, without control characters; "" if `text` says nothing.
std::string reason_text(std::string_view text);

/// Marks what `accepts` match, and judges these rows again. Call it before decide_doubts().
void accept_changes(const std::vector<Accept>& accepts, std::vector<Comparison>& rows);

/// A line for each accept that changed no verdict, with the reason. `rows` are all of the comparison, decided; if they
/// are `chosen` tests, accepts of others are left out.
std::vector<std::string> unused_accepts(const std::vector<Accept>& accepts, const std::vector<Comparison>& rows,
                                        bool chosen = false);

}  // namespace syscost::bench::stats
