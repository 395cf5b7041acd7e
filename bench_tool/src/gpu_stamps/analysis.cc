// SPDX-License-Identifier: MIT
#include "gpu_stamps/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "gpu_stamps/sm_figures.h"
#include "gpu_stamps/units.h"
#include "gpu_stamps/warp_figures.h"

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

}  // namespace syscost::bench::gpu_stamps
