// SPDX-License-Identifier: MIT
//
// The figures of one launch, from its stamps: of warps and their threads, and of blocks on their SMs.
//
// A figure that the stamps do not hold has a reason instead. A time below the resolution of the timer is not changed
// here; it is printed as `<=` the resolution. Figures that the measured process writes as well come from
// syscost/gpu/stamp_figures.h, so that both agree.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "syscost/gpu/stamp_figures.h"

namespace syscost::bench::gpu_stamps {

/// A figure, or the reason why there is none.
template <class Value>
struct Figure {
  std::optional<Value> value;
  std::string why_not;

  Figure(Value known) : value(std::move(known)) {}            // NOLINT(google-explicit-constructor): it is one
  Figure(const char* reason) : why_not(reason) {}             // NOLINT(google-explicit-constructor): the same
  Figure(std::string reason) : why_not(std::move(reason)) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return value.has_value(); }
  const Value* operator->() const { return &*value; }
  const Value& operator*() const { return *value; }
};

/// Percentiles of a set of values.
struct Ranks {
  std::size_t count = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p95 = 0;
  std::uint64_t max = 0;
};

/// The unit of analysis: a warp, or a block if only blocks were stamped.
struct Unit {
  std::optional<gpu::Extent3> block;
  gpu::Recorded block_number;
  gpu::Recorded warp;  ///< Empty for a block.
  gpu::Recorded sm;
  gpu::Recorded entry_ns;
  gpu::Recorded first_exit_ns;
  gpu::Recorded exit_ns;
  gpu::Recorded work;       ///< The sum over its threads.
  gpu::Recorded work_room;  ///< The most work in the same steps: 32 times the work of its busiest thread.
  std::vector<const gpu::Stamp*> stamps;

  gpu::Recorded took_ns() const;
};

struct ExitSpread {
  Ranks ns;
  std::optional<double> share_resolved;     ///< The share of warps with a spread above the resolution.
  std::optional<std::uint64_t> groups_max;  ///< Most groups of exits in one warp, apart by more than the resolution.
  std::optional<Ranks> cycles;              ///< By the SM's clock, which is finer.
};

struct SimtEfficiency {
  std::uint64_t work = 0;
  std::uint64_t room = 0;
  double share() const { return static_cast<double>(work) / static_cast<double>(room); }
};

struct Straggler {
  const Unit* unit = nullptr;
  std::uint64_t value_ns = 0;
};

struct Stragglers {
  bool is_by_exit = false;  ///< Without entries: by how long after the first exit they ended.
  std::uint64_t median_ns = 0;
  std::uint64_t limit_ns = 0;
  std::size_t of = 0;
  std::vector<Straggler> units;  ///< Latest first.
};

/// How well the thread's number modulo `modulus` explains when threads of a warp exit.
struct Modulus {
  std::uint64_t modulus = 0;
  std::size_t classes = 0;  ///< That have threads.
  double eta_squared = 0;   ///< Share of the variance that the classes explain.
  double by_chance = 0;     ///< The share that classes without any meaning explain on average.
  std::uint64_t worst_class = 0;
  double excess_ns = 0;  ///< How much later than the other threads it exits, on average.
};

struct Pattern {
  std::vector<Modulus> all;
  std::optional<Modulus> strongest;  ///< Explains over half, and more than chance; none where nothing does.
};

struct Waves {
  std::uint64_t expected = 0;  ///< Blocks / what fits at once.
  gpu::Recorded seen;          ///< Most blocks that ran one after the other on one SM.
};

struct SmLoad {
  std::size_t seen = 0;  ///< SMs that ran a block.
  gpu::Recorded existing;
  std::uint64_t least_busy_ns = 0;
  double mean_busy_ns = 0;
  std::uint64_t most_busy_ns = 0;
  std::size_t least_blocks = 0;
  std::size_t most_blocks = 0;
  std::optional<double> tail_effect;  ///< 1 - busy / (SMs x span).
};

struct Analysis {
  const gpu::StampedLaunch* launch = nullptr;
  std::vector<Unit> units;
  gpu::Recorded resolution_ns;        ///< Two steps of the timer.
  gpu::Recorded least_difference_ns;  ///< Between two stamps that differ.
  gpu::Recorded expected;             ///< Stamps that the launch's sizes ask for.
  Figure<std::uint64_t> span_ns;
  Figure<std::uint64_t> exit_range_ns;  ///< From the first exit to the last.
  Figure<ExitSpread> exit_spread;
  Figure<SimtEfficiency> simt;
  Figure<Stragglers> stragglers;
  Figure<Pattern> pattern;
  Figure<Ranks> entry_skew;  ///< In a block: between its first and its last entry.
  Figure<std::uint64_t> ramp_ns;
  Figure<Waves> waves;
  Figure<SmLoad> sms;
  Figure<double> self_cost;  ///< Share by which stamping made the GPU kernel slower.

  /// True when `ns` is not above the resolution.
  bool is_unresolved(double ns) const { return resolution_ns && ns <= static_cast<double>(*resolution_ns); }
};

/// Keeps pointers into `launch`.
Analysis analyze(const gpu::StampedLaunch& launch);

/// From stamps to units: threads put together to warps; warps and blocks as they are. Ordered by block and warp. A
/// stamp without a known warp is left out.
std::vector<Unit> units_of(const gpu::StampedLaunch& launch);

/// How many stamps the launch's sizes ask for.
gpu::Recorded expected_stamps(const gpu::StampedLaunch& launch);

/// True when single threads were stamped.
bool has_threads(const gpu::StampedLaunch& launch);

Ranks ranks_of(const std::vector<std::uint64_t>& sorted);

// Figures of blocks on their SMs: how they were handed out, in how many waves, and how evenly.

using BlocksBySm = std::map<std::uint64_t, std::vector<gpu::BlockRun>>;

Figure<Ranks> entry_skew(const gpu::StampedLaunch& launch, const BlocksBySm& by_sm);
Figure<Waves> waves(const gpu::StampedLaunch& launch, const BlocksBySm& by_sm);
Figure<SmLoad> sm_load(const gpu::StampedLaunch& launch, const BlocksBySm& by_sm);

// Figures of warps and their threads: how far apart they exit, which ran long, what of their width they used.

Figure<ExitSpread> exit_spread(const gpu::StampedLaunch& launch, const gpu::Recorded& resolution_ns);

/// Work done / (32 x the most one thread of the warp did), over all warps that counted.
Figure<SimtEfficiency> simt_efficiency(const std::vector<Unit>& units);

/// Units with a time over the median by more than three robust standard deviations (1.4826 x the median absolute
/// deviation, which is one of a normal distribution) and by more than the timer resolves. Pointers into `units`.
Figure<Stragglers> stragglers(const std::vector<Unit>& units, const gpu::Recorded& resolution_ns);

/// Eta squared of a one-way analysis of variance: exits, from the warp's first, by the thread's number modulo 2 to 32.
Figure<Pattern> exit_pattern(const gpu::StampedLaunch& launch);

}  // namespace syscost::bench::gpu_stamps
