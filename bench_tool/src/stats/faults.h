// SPDX-License-Identifier: MIT
//
// Faults: what keeps the counts of two windows from being judged, or from being compared at all.
#pragma once

#include <optional>
#include <string>

#include "stats/verdict.h"

namespace syscost::bench::stats {

struct Fault {
  Verdict verdict = Verdict::errored;  ///< Or inconclusive.
  std::string reason;                  ///< `failed in NEW`; `7 events lost in OLD: its counts are lower bounds`.
};

/// A test that did not pass, events that were lost, rows that are missing, calls that faults answered on one side only;
/// the first of these.
std::optional<Fault> find_fault(const WindowSummary& old_window, const WindowSummary& new_window);

/// True if faults answered or changed calls of one of the two and none of the other, or by other rules of
/// --syscost_inject: neither counts nor times of the two are comparable.
bool differ_by_faults(const WindowSummary& old_window, const WindowSummary& new_window);

/// Why the two do not count the same thing; "" where they do.
std::string why_incomparable(const WindowSummary& old_window, const WindowSummary& new_window);

/// Why there is no count that both sides have.
std::string why_not_counted(const WindowSummary& old_window, const WindowSummary& new_window);

}  // namespace syscost::bench::stats
