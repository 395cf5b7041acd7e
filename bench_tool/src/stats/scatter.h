// SPDX-License-Identifier: MIT
//
// Programs with counts that come and go by chance: servers that look for the next request, threads that work in the
// background. A change of the program rarely adds calls to some tests and removes calls from others. Chance does both:
// swap OLD and NEW, and what shrank has grown. So as many counts shrink by chance as grow, and those that shrank tell
// how much of the growth is chance (docs/statistics.md, "Programs that scatter").
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stats/verdict.h"

namespace syscost::bench::stats {

/// A program in which counts come and go in so many tests that single additional calls are not judged.
struct ScatteredProgram {
  std::string name;
  std::size_t waiting = 0;    ///< Tests that wait for others.
  std::size_t scattered = 0;  ///< Those with a count that comes and goes: it shrank, or it varied in OLD.
  bool is_known = false;      ///< OLD has three repetitions or more, so its own counts show what varies.
};

/// Turns what may be scatter into `near`, with the reason. Returns the programs that scatter as a whole. Changes only
/// tests that wait for others (races.h), and no syscall with a tolerance of 0 %.
std::vector<ScatteredProgram> allow_for_scatter(const CountPolicy& policy, std::vector<Comparison>& rows);

/// `httplib_test: counts of 51 of its 160 tests ...`, with what to do; a warning.
std::string warning_of(const ScatteredProgram& program);

/// What the rows of one comparison show together.
struct JointJudgement {
  std::vector<ScatteredProgram> scattered;
  std::size_t unequal_waits = 0;  ///< Tests that are `near` because they waited otherwise (unequal_waits.h).
};

/// Judges the rows of one comparison together: finds moved calls, then allows for chance in tests that wait for others.
JointJudgement judge_together(const CountPolicy& policy, std::vector<Comparison>& rows);

}  // namespace syscost::bench::stats
