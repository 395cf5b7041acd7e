// SPDX-License-Identifier: MIT
#include "gpu_stamps/sm_figures.h"

#include <algorithm>

#include "gpu_stamps/units.h"

namespace syscost::bench::gpu_stamps {
namespace {

const char* const kNeedsSms = "needs the entry, the exit and the SM of every stamp";

/// Most of `blocks` of which each begins when the one before has ended: always take the one that ends first.
std::uint64_t longest_chain(std::vector<gpu::BlockRun> blocks) {
  std::sort(blocks.begin(), blocks.end(),
            [](const gpu::BlockRun& a, const gpu::BlockRun& b) { return a.time.end_ns < b.time.end_ns; });
  std::uint64_t length = 0;
  std::uint64_t until = 0;
  for (const gpu::BlockRun& block : blocks) {
    if (length != 0 && block.time.begin_ns < until) continue;
    ++length;
    until = block.time.end_ns;
  }
  return length;
}

}  // namespace

Figure<Ranks> entry_skew(const gpu::StampedLaunch& launch, const BlocksBySm& by_sm) {
  if (launch.level == gpu::Level::block) return "blocks were stamped, not warps or threads";
  std::vector<std::uint64_t> skews;
  for (const auto& [sm, blocks] : by_sm) {
    for (const gpu::BlockRun& block : blocks) {
      if (block.entries.values > 1) skews.push_back(block.entries.width());
    }
  }
  if (skews.empty()) return by_sm.empty() ? kNeedsSms : "no block has two entries";
  std::sort(skews.begin(), skews.end());
  return ranks_of(skews);
}

Figure<Waves> waves(const gpu::StampedLaunch& launch, const BlocksBySm& by_sm) {
  const std::uint64_t room = launch.sm_count.value_or(0) * launch.blocks_per_sm.value_or(0);
  if (room == 0 || !launch.grid) return "needs the grid, sm_count and blocks_per_sm in the file";
  Waves result;
  result.expected = (launch.grid->count() + room - 1) / room;
  for (const auto& [sm, blocks] : by_sm) result.seen = std::max(result.seen.value_or(0), longest_chain(blocks));
  return result;
}

Figure<SmLoad> sm_load(const gpu::StampedLaunch& launch, const BlocksBySm& by_sm) {
  if (by_sm.empty()) return kNeedsSms;
  SmLoad load;
  load.seen = by_sm.size();
  load.existing = launch.sm_count;
  std::uint64_t sum = 0;
  gpu::Range busy;
  gpu::Range blocks_on;
  for (const auto& [sm, blocks] : by_sm) {
    const std::uint64_t one = gpu::busy_ns(blocks);
    busy.take(one);
    blocks_on.take(blocks.size());
    sum += one;
  }
  load.least_busy_ns = busy.least;
  load.most_busy_ns = busy.most;
  load.mean_busy_ns = static_cast<double>(sum) / static_cast<double>(by_sm.size());
  load.least_blocks = blocks_on.least;
  load.most_blocks = blocks_on.most;
  const gpu::Recorded span = gpu::span_ns(launch);
  if (span && *span > 0 && launch.sm_count.value_or(0) >= load.seen) {
    load.tail_effect =
        1 - static_cast<double>(sum) / (static_cast<double>(*launch.sm_count) * static_cast<double>(*span));
  }
  return load;
}

}  // namespace syscost::bench::gpu_stamps
