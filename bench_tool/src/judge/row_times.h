// SPDX-License-Identifier: MIT
//
// row_times: the times of compared rows: which may be compared at all, their samples and their verdicts, and whether
// more calls or slower calls changed the kernel time.
#pragma once

#include <optional>
#include <vector>

#include "judge/time_verdict.h"
#include "judge/verdict.h"

namespace syscost::bench::judge {

/// Says if the two runs took their times under the same conditions.
struct ComparableTimes {
  bool measured = true;    ///< True for windows that were measured while they were timed.
  bool unmeasured = true;  ///< True for loops and benchmarks, which are timed in passes of their own.
};

/// Judges the wall times of all rows as one family, and their processor times as another. A row gets no time verdict
/// when it is not paired, is a set-up (the first use of everything falls into it), failed on a side, or its times are
/// not comparable. A sample is a process where a side holds several of them, else a repetition. A processor time that
/// is short beside the steps of its clock is `insufficient`, with the reason, and in no family. Rows with times alone
/// get the worse verdict of both as the row's.
void judge_row_times(std::vector<Comparison>& rows, const ComparableTimes& comparable, const TimeLimits& limits);

/// True when the row's samples are processes.
bool samples_are_processes(const Comparison& row);

/// True when more samples could still decide it: noise hides the answer, or there are too few.
bool is_undecided(const std::optional<TimeVerdict>& time);

/// Whether more calls or slower calls changed the kernel time of a test's work: more_calls_ns = (n1 - n0) * m0,
/// slower_calls_ns = n1 * (m1 - m0), per syscall with n returned entries of mean m, added up. Their sum is the whole
/// change.
struct KernelSplit {
  double more_calls_ns = 0;
  double slower_calls_ns = 0;
};

/// None where the counts are not compared, or a side has no latencies.
std::optional<KernelSplit> split_kernel_time(const Comparison& row);

}  // namespace syscost::bench::judge
