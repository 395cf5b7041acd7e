// SPDX-License-Identifier: MIT
//
// The words for what became of a test: counts and times have the same ones.
#pragma once

#include <span>
#include <string_view>

namespace syscost::bench::stats {

enum class Verdict {
  same,          ///< Every gated count is equal, or varies alike.
  near,          ///< Counts vary among repetitions, differently on the two sides, but the ranges are not apart.
  exchanged,     ///< Calls took the place of others of their family (judge/families.h), no more than before.
  accepted,      ///< It would be red or in doubt but for an accept of the project (stats/accept.h).
  improved,      ///< Some gated count shrank, none grew.
  in_doubt,      ///< Counts differ, and other threads made calls, so that it may be chance: more runs tell.
  regressed,     ///< Some family of calls grew, there are fewer syncs, or a syscall fails in a new way.
  added,         ///< Only NEW has the test; prints as `new`.
  missing,       ///< Only OLD has it.
  errored,       ///< It failed or was skipped on a side: what it asked of the kernel is not what it would have.
  inconclusive,  ///< Events were lost or late, or rows are missing: the counts are lower bounds. Times: noise hides it.
  insufficient,  ///< Times only: too few samples for any difference to show.
  incomparable,  ///< The two sides count no common thing: other backends, other filters.
};

/// The rule that made the verdict on a test, or that judged one count. docs/bench.md says what each one means.
enum class Rule {
  // Of tests and of counts.
  chance,
  spread,
  tolerance,
  accept,
  new_wait,
  // Of tests.
  equal,
  growth,
  failures,
  syncs,
  leaks,
  fewer,
  exchange,
  gate_counts,
  baseline,
  outcome,
  losses,
  per_run,
  no_common_count,
  one_side,
  times,
  // Of counts.
  exact,
  all_runs,
  further_runs,
  not_gated,
};

std::string_view to_string(Rule rule);
/// All words, in the order of Rule.
std::span<const std::string_view> rule_words();

std::string_view to_string(Verdict verdict);
/// True for the verdicts that answer nothing: --strict ends in exit code 3.
bool has_no_answer(Verdict verdict);

}  // namespace syscost::bench::stats
