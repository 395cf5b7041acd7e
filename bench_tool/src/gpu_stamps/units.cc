// SPDX-License-Identifier: MIT
#include "gpu_stamps/units.h"

#include <algorithm>
#include <map>
#include <utility>

namespace syscost::bench::gpu_stamps {
namespace {

using gpu::Recorded;
using gpu::Stamp;

/// The lesser, or the greater, of what is known.
template <class Choose>
void fold(Recorded& into, const Recorded& value, Choose choose) {
  if (value) into = into ? choose(*into, *value) : *value;
}

const auto kLesser = [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); };
const auto kGreater = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };

void add(Unit& unit, const Stamp& stamp, bool is_thread) {
  fold(unit.entry_ns, stamp.entry_ns, kLesser);
  fold(unit.first_exit_ns, stamp.first_exit_ns ? stamp.first_exit_ns : stamp.exit_ns, kLesser);
  fold(unit.exit_ns, stamp.exit_ns, kGreater);
  if (!unit.sm) unit.sm = stamp.sm;
  if (stamp.work) unit.work = unit.work.value_or(0) + *stamp.work;
  const Recorded most = is_thread ? stamp.work : stamp.work_max;
  if (most) fold(unit.work_room, *most * gpu::kWarpThreads, kGreater);
  unit.stamps.push_back(&stamp);
}

}  // namespace

Recorded Unit::took_ns() const {
  if (!entry_ns || !exit_ns || *exit_ns < *entry_ns) return std::nullopt;
  return *exit_ns - *entry_ns;
}

bool has_threads(const gpu::StampedLaunch& launch) {
  if (launch.level) return *launch.level == gpu::Level::thread;
  return std::any_of(launch.scopes.begin(), launch.scopes.end(),
                     [](const Stamp& stamp) { return stamp.thread && !stamp.warp; });
}

std::vector<Unit> units_of(const gpu::StampedLaunch& launch) {
  const bool is_thread = has_threads(launch);
  std::map<std::pair<std::uint64_t, std::uint64_t>, Unit> units;
  for (const Stamp& stamp : launch.scopes) {
    const Recorded block = gpu::block_number(launch, stamp);
    std::uint64_t warp = 0;
    if (launch.level != gpu::Level::block) {
      const auto place = gpu::warp_place(launch, stamp);
      if (!place) continue;
      warp = place->second;
    }
    if (!block) continue;
    Unit& unit = units[{*block, warp}];
    if (unit.stamps.empty()) {
      unit.block = stamp.block;
      unit.block_number = block;
      if (launch.level != gpu::Level::block) unit.warp = warp;
    }
    add(unit, stamp, is_thread);
  }
  std::vector<Unit> list;
  list.reserve(units.size());
  for (auto& [place, unit] : units) list.push_back(std::move(unit));
  return list;
}

Recorded expected_stamps(const gpu::StampedLaunch& launch) {
  if (!launch.level || !launch.grid || !launch.block) return std::nullopt;
  const std::uint64_t blocks = launch.grid->count();
  const std::uint64_t threads = launch.block->count();
  switch (*launch.level) {
    case gpu::Level::thread:
      return blocks * threads;
    case gpu::Level::warp:
      return blocks * ((threads + gpu::kWarpThreads - 1) / gpu::kWarpThreads);
    case gpu::Level::block:
      return blocks;
  }
  return std::nullopt;
}

Ranks ranks_of(const std::vector<std::uint64_t>& sorted) {
  if (sorted.empty()) return {};
  return {sorted.size(), *gpu::percentile(sorted, 0.50), *gpu::percentile(sorted, 0.95), sorted.back()};
}

}  // namespace syscost::bench::gpu_stamps
