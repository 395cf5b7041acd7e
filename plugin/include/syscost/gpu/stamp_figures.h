// SPDX-License-Identifier: MIT
//
// The figures of a launch that are times: what the measured process writes into the run's CSV, so that `compare` can
// judge an optimisation, and what `bench show` prints. One place, so that both say the same.
//
// A figure that the stamps do not hold is empty. This code does not know the timer's step: the code that prints a
// figure says when the figure is below that step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "syscost/gpu/stamps.h"

namespace syscost::gpu {

/// For sorted values, by nearest rank: a value that was measured, never one in between. Empty of none.
inline Recorded percentile(const std::vector<std::uint64_t>& sorted, double fraction) {
  if (sorted.empty()) return std::nullopt;
  const double rank = fraction * static_cast<double>(sorted.size());
  auto index = static_cast<std::size_t>(rank);
  if (static_cast<double>(index) == rank && index > 0) --index;  // rank 5 of 10 is the fifth
  return sorted[std::min(index, sorted.size() - 1)];
}

/// Where a stamp's warp stands: number of its block in the grid, number of the warp in its block.
using WarpPlace = std::pair<std::uint64_t, std::uint64_t>;

/// Number of a stamp's block in the grid. Empty where the grid's size is not known and the place needs it.
inline Recorded block_number(const StampedLaunch& launch, const Stamp& stamp) {
  if (!stamp.block) return 0;
  if (launch.grid) return stamp.block->number_in(*launch.grid);
  if (stamp.block->y == 0 && stamp.block->z == 0) return stamp.block->x;
  return std::nullopt;
}

/// Number of a stamp's thread in its block. Empty where the block's size is not known and the place needs it.
inline Recorded thread_number(const StampedLaunch& launch, const Stamp& stamp) {
  if (!stamp.thread) return std::nullopt;
  if (launch.block) return stamp.thread->number_in(*launch.block);
  if (stamp.thread->y == 0 && stamp.thread->z == 0) return stamp.thread->x;
  return std::nullopt;
}

inline std::optional<WarpPlace> warp_place(const StampedLaunch& launch, const Stamp& stamp) {
  const Recorded block = block_number(launch, stamp);
  if (!block) return std::nullopt;
  if (stamp.warp) return WarpPlace{*block, *stamp.warp};
  const Recorded thread = thread_number(launch, stamp);
  if (!thread) return std::nullopt;
  return WarpPlace{*block, *thread / kWarpThreads};
}

/// From the first entry to the last exit.
inline Recorded span_ns(const StampedLaunch& launch) {
  Recorded first;
  Recorded last;
  for (const Stamp& stamp : launch.scopes) {
    if (!stamp.entry_ns || !stamp.exit_ns) return std::nullopt;
    first = first ? std::min(*first, *stamp.entry_ns) : *stamp.entry_ns;
    last = last ? std::max(*last, *stamp.exit_ns) : *stamp.exit_ns;
  }
  if (!first || *last < *first) return std::nullopt;
  return *last - *first;
}

/// The least and the greatest of what belongs together.
struct Range {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::size_t values = 0;

  void take(std::uint64_t value) {
    least = values == 0 ? value : std::min(least, value);
    most = values == 0 ? value : std::max(most, value);
    ++values;
  }
  std::uint64_t width() const { return most - least; }
};

/// For each warp with at least two exits (two threads of it, or its first and its last exit): the time between the
/// first and the last. Sorted.
inline std::vector<std::uint64_t> exit_spreads_ns(const StampedLaunch& launch) {
  std::map<WarpPlace, Range> warps;
  std::vector<std::uint64_t> spreads;
  if (launch.level == Level::block) return spreads;
  for (const Stamp& stamp : launch.scopes) {
    const std::optional<WarpPlace> place = warp_place(launch, stamp);
    if (!place || !stamp.exit_ns) continue;
    Range& exits = warps[*place];
    exits.take(*stamp.exit_ns);
    if (stamp.first_exit_ns) exits.take(*stamp.first_exit_ns);
  }
  for (const auto& [place, exits] : warps) {
    if (exits.values > 1) spreads.push_back(exits.width());
  }
  std::sort(spreads.begin(), spreads.end());
  return spreads;
}

/// How long each unit ran. Sorted.
inline std::vector<std::uint64_t> durations_ns(const StampedLaunch& launch) {
  std::vector<std::uint64_t> durations;
  for (const Stamp& stamp : launch.scopes) {
    if (stamp.entry_ns && stamp.exit_ns && *stamp.exit_ns >= *stamp.entry_ns) {
      durations.push_back(*stamp.exit_ns - *stamp.entry_ns);
    }
  }
  std::sort(durations.begin(), durations.end());
  return durations;
}

struct Interval {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

/// A block on its SM: from its first entry to its last exit.
struct BlockRun {
  std::uint64_t block = 0;
  Interval time;
  Range entries;
};

/// The blocks of each SM by the time they began; empty where a stamp has no entry, exit, SM or place.
inline std::map<std::uint64_t, std::vector<BlockRun>> blocks_by_sm(const StampedLaunch& launch) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, BlockRun> runs;
  for (const Stamp& stamp : launch.scopes) {
    const Recorded block = block_number(launch, stamp);
    if (!block || !stamp.sm || !stamp.entry_ns || !stamp.exit_ns || *stamp.exit_ns < *stamp.entry_ns) return {};
    BlockRun& run = runs[{*stamp.sm, *block}];
    if (run.entries.values == 0) run = {*block, {*stamp.entry_ns, *stamp.exit_ns}, {}};
    run.entries.take(*stamp.entry_ns);
    run.time.begin_ns = std::min(run.time.begin_ns, *stamp.entry_ns);
    run.time.end_ns = std::max(run.time.end_ns, *stamp.exit_ns);
  }
  std::map<std::uint64_t, std::vector<BlockRun>> by_sm;
  for (const auto& [key, run] : runs) by_sm[key.first].push_back(run);
  for (auto& [sm, blocks] : by_sm) {
    std::stable_sort(blocks.begin(), blocks.end(),
                     [](const BlockRun& a, const BlockRun& b) { return a.time.begin_ns < b.time.begin_ns; });
  }
  return by_sm;
}

/// Time during which at least one of `blocks`, ordered by begin, ran.
inline std::uint64_t busy_ns(const std::vector<BlockRun>& blocks) {
  std::uint64_t busy = 0;
  std::uint64_t until = 0;
  for (const BlockRun& run : blocks) {
    const std::uint64_t begin = std::max(run.time.begin_ns, until);
    if (run.time.end_ns > begin) busy += run.time.end_ns - begin;
    until = std::max(until, run.time.end_ns);
  }
  return busy;
}

/// Mean time that an SM of the device had nothing to do between the launch's first entry and its last exit.
inline Recorded idle_per_sm_ns(const StampedLaunch& launch) {
  const auto by_sm = blocks_by_sm(launch);
  const Recorded span = span_ns(launch);
  if (by_sm.empty() || !span || launch.sm_count.value_or(0) < by_sm.size()) return std::nullopt;
  std::uint64_t busy = 0;
  for (const auto& [sm, blocks] : by_sm) busy += busy_ns(blocks);
  return *span - std::min(*span, busy / *launch.sm_count);
}

/// Time between the first and the last entry among as many blocks as fit on the device at once.
inline Recorded launch_ramp_ns(const StampedLaunch& launch) {
  Range first_wave;
  std::vector<std::uint64_t> entries;
  for (const auto& [sm, blocks] : blocks_by_sm(launch)) {
    for (const BlockRun& run : blocks) entries.push_back(run.time.begin_ns);
  }
  if (entries.empty() || !launch.sm_count || !launch.blocks_per_sm) return std::nullopt;
  std::sort(entries.begin(), entries.end());
  const std::uint64_t room = *launch.sm_count * *launch.blocks_per_sm;
  for (std::size_t i = 0; i < entries.size() && i < room; ++i) first_wave.take(entries[i]);
  return first_wave.values == 0 ? Recorded() : Recorded(first_wave.width());
}

}  // namespace syscost::gpu
