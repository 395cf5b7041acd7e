// SPDX-License-Identifier: MIT
#include "gpu_stamps/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace syscost::bench::gpu_stamps {
namespace {

using gpu::Recorded;
using gpu::Stamp;

const char* const kNotWhole = "stamps are missing";
const char* const kNoEntries = "not every stamp has an entry and an exit";

Recorded least_difference(const gpu::StampedLaunch& launch) {
  std::set<std::uint64_t> times;
  for (const Stamp& stamp : launch.scopes) {
    for (const Recorded& time : {stamp.entry_ns, stamp.first_exit_ns, stamp.exit_ns}) {
      if (time) times.insert(*time);
    }
  }
  Recorded least;
  const std::uint64_t* before = nullptr;
  for (const std::uint64_t& time : times) {
    if (before != nullptr) least = std::min(least.value_or(time - *before), time - *before);
    before = &time;
  }
  return least;
}

Figure<std::uint64_t> exit_range(const std::vector<Unit>& units) {
  gpu::Range range;
  for (const Unit& unit : units) {
    if (unit.first_exit_ns) range.take(*unit.first_exit_ns);
    if (unit.exit_ns) range.take(*unit.exit_ns);
  }
  if (range.values < 2) return "fewer than two exits were stamped";
  return range.width();
}

Figure<double> self_cost(const gpu::StampedLaunch& launch) {
  if (!launch.plain_ns || !launch.stamped_ns) return "the GPU kernel was not timed without stamps and with them";
  if (*launch.plain_ns == 0) return "the GPU kernel's time without stamps is 0";
  return static_cast<double>(*launch.stamped_ns) / static_cast<double>(*launch.plain_ns) - 1;
}

template <class Value>
Figure<Value> figure(const std::optional<Value>& value, const char* why_not) {
  return value ? Figure<Value>(*value) : Figure<Value>(why_not);
}

}  // namespace

Analysis analyze(const gpu::StampedLaunch& launch) {
  std::vector<Unit> units = units_of(launch);
  const Recorded resolution = launch.timer_step_ns ? Recorded(2 * *launch.timer_step_ns) : std::nullopt;
  const Recorded expected = expected_stamps(launch);
  // Stamps are missing, so figures of the whole launch would be wrong.
  const bool is_whole = launch.overflowed.value_or(0) == 0 && (!expected || launch.scopes.size() >= *expected);
  const auto by_sm = is_whole ? gpu::blocks_by_sm(launch) : BlocksBySm();
  Analysis analysis{&launch,
                    std::move(units),
                    resolution,
                    least_difference(launch),
                    expected,
                    is_whole ? figure<std::uint64_t>(gpu::span_ns(launch), kNoEntries) : kNotWhole,
                    "",
                    exit_spread(launch, resolution),
                    "",
                    "",
                    exit_pattern(launch),
                    is_whole ? entry_skew(launch, by_sm) : kNotWhole,
                    is_whole ? figure<std::uint64_t>(gpu::launch_ramp_ns(launch),
                                                     "needs entries, SMs, and the file's sm_count and blocks_per_sm")
                             : kNotWhole,
                    waves(launch, by_sm),
                    is_whole ? sm_load(launch, by_sm) : kNotWhole,
                    self_cost(launch)};
  analysis.exit_range_ns = exit_range(analysis.units);
  analysis.simt = simt_efficiency(analysis.units);
  analysis.stragglers = stragglers(analysis.units, resolution);
  return analysis;
}

namespace {

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

namespace {

/// One-way analysis of variance; nullopt where there are too few values for the classes to mean anything.
std::optional<Modulus> explain(const std::vector<std::pair<std::uint64_t, double>>& exits, std::uint64_t modulus) {
  struct Class {
    double sum = 0;
    double count = 0;
  };
  std::map<std::uint64_t, Class> classes;
  double sum = 0;
  for (const auto& [thread, value] : exits) {
    Class& one = classes[thread % modulus];
    one.sum += value;
    one.count += 1;
    sum += value;
  }
  // If each class has one thread, the classes explain all differences, so they show nothing.
  if (classes.size() < 2 || exits.size() < 2 * classes.size()) return std::nullopt;
  const auto count = static_cast<double>(exits.size());
  const double mean = sum / count;
  double total = 0;
  for (const auto& [thread, value] : exits) total += (value - mean) * (value - mean);
  double between = 0;
  Modulus result;
  double worst_mean = -1;
  for (const auto& [number, one] : classes) {
    const double class_mean = one.sum / one.count;
    between += one.count * (class_mean - mean) * (class_mean - mean);
    if (class_mean <= worst_mean) continue;
    worst_mean = class_mean;
    result.worst_class = number;
    result.excess_ns = class_mean - (sum - one.sum) / (count - one.count);
  }
  if (total <= 0) return std::nullopt;  // all exit alike
  result.modulus = modulus;
  result.classes = classes.size();
  result.eta_squared = between / total;
  result.by_chance = static_cast<double>(classes.size() - 1) / (count - 1);
  return result;
}

/// Threads' numbers in their blocks, and how long after their warp's first they exited.
std::vector<std::pair<std::uint64_t, double>> exits_in_warps(const gpu::StampedLaunch& launch) {
  std::map<gpu::WarpPlace, std::uint64_t> first;
  for (const Stamp& stamp : launch.scopes) {
    const auto place = gpu::warp_place(launch, stamp);
    if (!place || !stamp.exit_ns) continue;
    const auto [found, is_new] = first.emplace(*place, *stamp.exit_ns);
    if (!is_new) found->second = std::min(found->second, *stamp.exit_ns);
  }
  std::vector<std::pair<std::uint64_t, double>> exits;
  for (const Stamp& stamp : launch.scopes) {
    const auto place = gpu::warp_place(launch, stamp);
    const Recorded thread = gpu::thread_number(launch, stamp);
    if (place && thread && stamp.exit_ns) {
      exits.emplace_back(*thread, static_cast<double>(*stamp.exit_ns - first[*place]));
    }
  }
  return exits;
}

/// Groups of exits that are more than `apart` away from the next.
std::uint64_t groups(std::vector<std::uint64_t> exits, std::uint64_t apart) {
  std::sort(exits.begin(), exits.end());
  std::uint64_t count = 1;
  for (std::size_t i = 1; i < exits.size(); ++i) count += exits[i] - exits[i - 1] > apart ? 1 : 0;
  return count;
}

/// Reorders the values.
std::uint64_t median_of(std::vector<std::uint64_t>& values) {
  std::sort(values.begin(), values.end());
  return *gpu::percentile(values, 0.50);
}

}  // namespace

Figure<ExitSpread> exit_spread(const gpu::StampedLaunch& launch, const Recorded& resolution_ns) {
  if (launch.level == gpu::Level::block) return "blocks were stamped, not warps or threads";
  const std::vector<std::uint64_t> spreads = gpu::exit_spreads_ns(launch);
  if (spreads.empty()) return "no warp has two exits: stamp threads, or use the warp level of syscost/gpu.cuh";
  ExitSpread result;
  result.ns = ranks_of(spreads);
  std::map<gpu::WarpPlace, std::vector<std::uint64_t>> exits;
  std::map<gpu::WarpPlace, gpu::Range> cycles;
  for (const Stamp& stamp : launch.scopes) {
    const auto place = gpu::warp_place(launch, stamp);
    if (!place) continue;
    for (const Recorded& time : {stamp.first_exit_ns, stamp.exit_ns}) {
      if (time) exits[*place].push_back(*time);
    }
    for (const Recorded& time : {stamp.first_exit_cycles, stamp.exit_cycles}) {
      if (time) cycles[*place].take(*time);
    }
  }
  if (resolution_ns) {
    std::uint64_t most = 0;
    for (const auto& [place, times] : exits) most = std::max(most, times.empty() ? 0 : groups(times, *resolution_ns));
    // The first and the last exit of a warp tell nothing about the exits between them.
    if (has_threads(launch)) result.groups_max = most;
    const auto above = std::count_if(spreads.begin(), spreads.end(), [&](auto ns) { return ns > *resolution_ns; });
    result.share_resolved = static_cast<double>(above) / static_cast<double>(spreads.size());
  }
  std::vector<std::uint64_t> in_cycles;
  for (const auto& [place, range] : cycles) {
    if (range.values > 1) in_cycles.push_back(range.width());
  }
  std::sort(in_cycles.begin(), in_cycles.end());
  if (!in_cycles.empty()) result.cycles = ranks_of(in_cycles);
  return result;
}

Figure<SimtEfficiency> simt_efficiency(const std::vector<Unit>& units) {
  SimtEfficiency result;
  for (const Unit& unit : units) {
    if (!unit.work || !unit.work_room) continue;
    result.work += *unit.work;
    result.room += *unit.work_room;
  }
  if (result.room == 0) return "nothing was counted: call count() once for each step of a thread's work";
  return result;
}

Figure<Stragglers> stragglers(const std::vector<Unit>& units, const Recorded& resolution_ns) {
  Stragglers result;
  result.is_by_exit = std::none_of(units.begin(), units.end(), [](const Unit& unit) { return unit.took_ns(); });
  Recorded first_exit;
  for (const Unit& unit : units) {
    if (unit.exit_ns) first_exit = std::min(first_exit.value_or(*unit.exit_ns), *unit.exit_ns);
  }
  std::vector<Straggler> all;
  std::vector<std::uint64_t> values;
  for (const Unit& unit : units) {
    Recorded value = unit.took_ns();
    if (result.is_by_exit && unit.exit_ns) value = *unit.exit_ns - *first_exit;
    if (!value) continue;
    all.push_back({&unit, *value});
    values.push_back(*value);
  }
  if (values.size() < 3) return "fewer than three of them, so none can be late";
  result.of = values.size();
  result.median_ns = median_of(values);
  for (std::uint64_t& value : values) {
    value = value > result.median_ns ? value - result.median_ns : result.median_ns - value;
  }
  const double robust_deviation = 1.4826 * static_cast<double>(median_of(values));
  const double margin = std::max(3 * robust_deviation, static_cast<double>(resolution_ns.value_or(0)));
  result.limit_ns = result.median_ns + static_cast<std::uint64_t>(std::ceil(margin));
  for (const Straggler& one : all) {
    if (one.value_ns > result.limit_ns) result.units.push_back(one);
  }
  std::stable_sort(result.units.begin(), result.units.end(),
                   [](const Straggler& a, const Straggler& b) { return a.value_ns > b.value_ns; });
  return result;
}

Figure<Pattern> exit_pattern(const gpu::StampedLaunch& launch) {
  if (!has_threads(launch)) return "needs stamps of single threads";
  const auto exits = exits_in_warps(launch);
  Pattern pattern;
  for (const std::uint64_t modulus : {2U, 4U, 8U, 16U, 32U}) {
    if (const std::optional<Modulus> one = explain(exits, modulus)) pattern.all.push_back(*one);
  }
  if (pattern.all.empty()) return "too few threads, or all of them exit alike";
  for (const Modulus& one : pattern.all) {
    // A multiple of the true modulus explains the differences as well. The smallest such number is the pattern.
    const bool is_clear = one.eta_squared > 0.5 && one.eta_squared > 2 * one.by_chance;
    if (is_clear && (!pattern.strongest || one.eta_squared > pattern.strongest->eta_squared + 0.05)) {
      pattern.strongest = one;
    }
  }
  return pattern;
}

}  // namespace syscost::bench::gpu_stamps
