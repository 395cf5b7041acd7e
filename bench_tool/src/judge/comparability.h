// SPDX-License-Identifier: MIT
//
// comparability: which test of OLD is compared with which of NEW, and what keeps two from being compared.
//
// Tests are paired by name; by --pair where a test was renamed; and when each side holds one test, those two. The loops
// of tests that were paired under different names go with them. A test without a partner keeps a row of its own: a test
// that vanished must not vanish from the comparison too.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/verdict.h"

namespace syscost::bench::judge {

/// One window of a side, as pairing sees it.
struct PairCandidate {
  std::string name;                  ///< Without the program.
  std::string program;               ///< Tells windows of the same name apart.
  bool is_test = false;              ///< Suites and environments do not count as "one test".
  std::string loop;                  ///< The name of a loop; else empty.
  std::optional<std::size_t> owner;  ///< For a loop: the window that it ran in, an index into its side.
};

struct Pair {
  std::optional<std::size_t> old_index;
  std::optional<std::size_t> new_index;
};

struct Pairing {
  std::vector<Pair> pairs;          ///< OLD's order, then what only NEW has.
  std::optional<Pair> single;       ///< Set when the one test of each side was paired for that reason alone.
  std::vector<std::string> faults;  ///< --pair arguments that name no test.
};

/// `asked`: (OLD, NEW) names of --pair; `name (program)` where several programs have one. A benchmark's may be given as
/// Google Benchmark says it.
Pairing pair_windows(const std::vector<PairCandidate>& old_side, const std::vector<PairCandidate>& new_side,
                     const std::vector<std::pair<std::string, std::string>>& asked);

/// `A.x` and `A.y` as `x -> y`, equal names as one name, others in full; `A.x, loop f` and `A.y, loop f` as
/// `x -> y, loop f`.
std::string pair_name(const std::string& old_name, const std::string& new_name);

/// How the rows that are `shown` are called for people: the only loop of a test that is not shown itself goes by the
/// test's name.
std::vector<std::string> shown_names(const std::vector<Comparison>& all, const std::vector<const Comparison*>& shown);

/// It keeps the counts of two windows from being judged, or from being compared at all.
struct Fault {
  Verdict verdict = Verdict::errored;  ///< Or inconclusive.
  std::string reason;                  ///< `failed in NEW`; `7 events lost in OLD: its counts are lower bounds`.
};

/// A test that did not pass, events that were lost, rows that are missing, calls that faults answered on one side only;
/// the first of these.
std::optional<Fault> find_fault(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window);

/// True if faults answered or changed calls of one of the two and none of the other, or by other rules of
/// --syscost_inject: neither counts nor times of the two are comparable.
bool differ_by_faults(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window);

/// Why the two do not count the same thing; "" where they do.
std::string why_incomparable(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window);

/// Why there is no count that both sides have.
std::string why_not_counted(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window);

}  // namespace syscost::bench::judge
