// SPDX-License-Identifier: MIT
//
// Simulated comparisons with a known answer: how often compare's judgement misses or invents.
//
// compare's own code judges: judge::judge_times() and judge::compare_windows(). The simulated part is the
// measurement: samples drawn from a known distribution, counts that are known to be equal or to differ by one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace syscost::bench::simulation {

/// How times scatter. All are positive; `noise` is the relative standard deviation of the undisturbed part.
enum class Noise {
  normal,     ///< The target is stated for this one.
  disturbed,  ///< Every tenth sample takes up to three times as long: interrupts, page faults, other processes.
  ticks,      ///< Read from a coarse clock: about ten distinct values, so that ties are everywhere.
  process,    ///< Each side is one process; its samples scatter around a value of its own: not what tests assume.
};
std::string_view to_string(Noise noise);

struct TimesSetup {
  Noise noise_kind = Noise::normal;
  double noise = 0.03;
  std::size_t tests = 50;
  std::size_t samples = 10;  ///< Those of each side.
  double slowdown = 1.0;     ///< That of one test of NEW; the others are equal.
  bool has_looks = false;    ///< As `ab`: four looks, on while a test is undecided; `samples` at the first.
};

struct TimesResult {
  std::size_t comparisons = 0;
  std::size_t with_false_regression = 0;   ///< A test that is equal regressed.
  std::size_t with_false_improvement = 0;  ///< A test that is equal improved.
  std::size_t found = 0;                   ///< The slowed test regressed. Only with a slowdown.
};

TimesResult simulate_times(const TimesSetup& setup, std::size_t comparisons, std::uint64_t seed);

/// Tests on a machine that does other things, too: what they wait for a processor is in their wall time alone.
struct CpuSetup {
  double cpu_ns = 1e6;    ///< Each test's.
  double step_ns = 1000;  ///< That of the processor time's clock: a microsecond, or a tick.
  double noise = 0.03;    ///< Relative standard deviation of the processor time.
  double waits = 0.3;     ///< Time waited, on average a share of the processor time; exponential.
  std::size_t tests = 50;
  std::size_t samples = 10;  ///< Those of each side.
  double slowdown = 1.0;     ///< That of one test of NEW; the others are equal.
};

struct CpuResult {
  std::size_t comparisons = 0;
  std::size_t false_by_wall = 0;  ///< Comparisons with a test that is equal and regressed.
  std::size_t false_by_cpu = 0;
  std::size_t found_by_wall = 0;  ///< The slowed test regressed. Only with a slowdown.
  std::size_t found_by_cpu = 0;
  std::size_t not_judged = 0;  ///< Tests, over all comparisons, that were too short for the clock.
};

CpuResult simulate_cpu(const CpuSetup& setup, std::size_t comparisons, std::uint64_t seed);

enum class CallChange {
  none,
  added_to_a_syscall,    ///< One more call of a syscall that the test makes anyway.
  added_with_threads,    ///< The same, and other threads make calls, too: they wait more or less often each time.
  added_a_syscall,       ///< One call of a syscall that the test did not make.
  added_in_one_sample,   ///< The same, in one repetition of NEW only.
  added_errno,           ///< As many calls, one of which now fails.
  replaced_by_volatile,  ///< Only syscalls of class `volatile` change.
};
std::string_view to_string(CallChange change);

/// How many of `comparisons` of one test, each over `repetitions`, end in `regressed`. Every test makes some syscalls
/// with counts that repeat exactly, one with a count that varies among repetitions in the same way on both sides, and
/// waits of threads (futex).
std::size_t simulate_counts(CallChange change, std::size_t comparisons, std::size_t repetitions, std::uint64_t seed);

/// How well the false alarms of the next run were estimated (judge/baseline_windows.h).
struct AlarmsResult {
  double estimated = 0;     ///< The estimates of all suites, added up.
  double came = 0;          ///< The expectations by the known chances, added up as well.
  double within_bound = 0;  ///< Share of the suites in which the known chances stay below the estimate's bound.
};

/// `runs` of each suite are seen. One count in ten varies, each with a chance of its own, most of them seldom.
AlarmsResult simulate_alarms(std::size_t runs, std::size_t suites, std::uint64_t seed);

/// How a count varies from run to run of one program: never; one more in 20 % of the runs; normally, by so many percent
/// of it; by a Pareto distribution.
enum class Varies { never, by_one, by_2, by_4, by_10, heavy_tail };
std::string_view to_string(Varies varies);
/// The other things that change from run to run, whichever program runs.
enum class Around { quiet, load, drift, alternates, left_over };
std::string_view to_string(Around around);

/// The result for counts in doubt, see judge/evidence.h.
struct DoubtsResult {
  std::size_t equal = 0;  ///< The first runs agree, so that nothing is in doubt.
  std::size_t red = 0;
  std::size_t not_red = 0;
  std::size_t in_doubt = 0;
  std::size_t runs = 0;  ///< Further ones, of all gates.
};

/// Each gate has one run of each side, and then up to 40 runs of sides that a coin chooses. NEW makes `more` calls.
/// `doubts`: so many counts are in doubt in the gate.
DoubtsResult simulate_doubts(Varies varies, Around around, double more, std::size_t doubts, std::size_t gates,
                             std::uint64_t seed);

/// The result for histories of a test's times, see judge/history.h.
struct StepsResult {
  std::size_t with_steps = 0;  ///< Histories that show a step, wherever.
  std::size_t near = 0;        ///< One at most a run off the true place.
};

/// From a run between the first and the last third on, each of `histories` is `slowdown` times as slow; noise is
/// log-normal.
StepsResult simulate_steps(std::size_t runs, double noise, double slowdown, std::size_t histories, std::uint64_t seed);

/// How the calls of a syscall in an interval scatter while nothing changes.
enum class Load {
  steady,  ///< Independent calls: Poisson.
  uneven,  ///< Log-normal, with a standard deviation of 30 %.
  bursty,  ///< Poisson around a mean that is drawn anew for each interval, exponentially.
  timer,   ///< Always the same; in every 30th interval, by chance, ten times more.
};
std::string_view to_string(Load load);

/// The result for a command that is watched, see stats/watched_series.h.
struct UnusualResult {
  double low_per_hour = 0;  ///< Values called unusual in an hour of intervals of a second; of any severity.
  double medium_per_hour = 0;
  double high_per_hour = 0;
  double found = 0;  ///< Share of the jumps that were called unusual at once, of any severity.
};

/// A syscall with `mean` calls in each of `intervals`; apart from them, each value is taken again `jump` times as
/// large.
UnusualResult simulate_unusual(Load load, double mean, double jump, std::size_t intervals, std::uint64_t seed);

/// Counts without a law.
enum class Lawless { random_to_2, random_to_10, random_to_10000, noisy_constant, noisy_line, noisy_blocks };
std::string_view to_string(Lawless kind);

struct LawsResult {
  std::size_t laws = 0;       ///< Families that a law is said of, other than a constant.
  std::size_t constants = 0;  ///< Families with equal counts, by chance.
};

/// The result for `families` with so many sizes: 8, 32, 128, ...; see scale/solve_law.h.
LawsResult simulate_laws(Lawless kind, std::size_t sizes, std::size_t families, std::uint64_t seed);

}  // namespace syscost::bench::simulation
