// SPDX-License-Identifier: MIT
//
// Programs with counts that come and go by chance: servers that look for the next request, threads that work in the
// background. A change of the program rarely makes the calls of some tests fewer where it makes those of others more.
// Chance does: OLD and NEW could as well be the other way round, so as many counts shrink by chance as grow. What
// shrank therefore tells how much of what grew is chance (docs/statistics.md, "Programs that scatter").
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stats/verdict.h"

namespace syscost::bench::stats {

/// A program in which counts of so many tests come and go that single calls more are not judged there.
struct ScatteredProgram {
  std::string name;
  std::size_t waiting = 0;    ///< Tests that wait for others.
  std::size_t scattered = 0;  ///< Of these, tests with a count that comes and goes: it shrank, or it varied in OLD.
  bool is_known = false;      ///< OLD has three repetitions or more, so that its own counts say what varies.
};

/// Makes `near` what may be scatter, with the reason, and returns the programs that scatter as a whole. Only tests that
/// wait for others (races.h) are touched, and no syscall that is to be told exactly (a tolerance of 0 %).
std::vector<ScatteredProgram> allow_for_scatter(const CountPolicy& policy, std::vector<Comparison>& rows);

/// `httplib_test: counts of 51 of its 160 tests ...`, with what to do; a warning.
std::string warning_of(const ScatteredProgram& program);

/// What the rows of one comparison say together: finds moved calls, then allows for scatter.
std::vector<ScatteredProgram> judge_together(const CountPolicy& policy, std::vector<Comparison>& rows);

}  // namespace syscost::bench::stats
