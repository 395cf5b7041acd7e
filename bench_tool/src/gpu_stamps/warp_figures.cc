// SPDX-License-Identifier: MIT
#include "gpu_stamps/warp_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "gpu_stamps/units.h"

namespace syscost::bench::gpu_stamps {
namespace {

using gpu::Recorded;
using gpu::Stamp;

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
