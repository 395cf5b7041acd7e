// SPDX-License-Identifier: MIT
//
// Stamps for machines: JSON with every figure, null where there is none and its reason beside it; CSV with every stamp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu_stamps/show_stamps.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::gpu_stamps {
namespace {

using gpu::Recorded;
using render::Json;

Json size_json(const std::optional<gpu::Extent3>& size) {
  return size ? Json::array({size->x, size->y, size->z}) : Json(nullptr);
}

Json number_json(const std::optional<double>& value) {
  return value ? render::to_json(*value) : Json(nullptr);
}

Json to_json(std::uint64_t value) {
  return value;
}

Json to_json(double value) {
  return value;
}

Json to_json(const Ranks& ranks) {
  return {{"count", ranks.count}, {"p50", ranks.p50}, {"p95", ranks.p95}, {"max", ranks.max}};
}

Json to_json(const ExitSpread& spread) {
  return {{"ns", to_json(spread.ns)},
          {"share_over_resolution", number_json(spread.share_resolved)},
          {"most_groups", render::to_json(spread.groups_max)},
          {"cycles", spread.cycles ? to_json(*spread.cycles) : Json(nullptr)}};
}

Json to_json(const SimtEfficiency& simt) {
  return {{"share", simt.share()}, {"work", simt.work}, {"room", simt.room}};
}

Json to_json(const Stragglers& stragglers) {
  Json units = Json::array();
  for (const Straggler& one : stragglers.units) {
    units.push_back({{"block", size_json(one.unit->block)},
                     {"warp", render::to_json(one.unit->warp)},
                     {"sm", render::to_json(one.unit->sm)},
                     {"ns", one.value_ns}});
  }
  return {{"by", stragglers.is_by_exit ? "exit" : "time"},
          {"of", stragglers.of},
          {"median_ns", stragglers.median_ns},
          {"limit_ns", stragglers.limit_ns},
          {"units", std::move(units)}};
}

Json to_json(const Modulus& one) {
  return {{"modulus", one.modulus},
          {"eta_squared", one.eta_squared},
          {"by_chance", one.by_chance},
          {"worst_class", one.worst_class},
          {"excess_ns", render::to_json(one.excess_ns)}};
}

Json to_json(const Pattern& pattern) {
  Json all = Json::array();
  for (const Modulus& one : pattern.all) all.push_back(to_json(one));
  return {{"strongest", pattern.strongest ? to_json(*pattern.strongest) : Json(nullptr)}, {"all", std::move(all)}};
}

Json to_json(const Waves& waves) {
  return {{"expected", waves.expected}, {"seen", render::to_json(waves.seen)}};
}

Json to_json(const SmLoad& load) {
  return {{"seen", load.seen},
          {"existing", render::to_json(load.existing)},
          {"least_busy_ns", load.least_busy_ns},
          {"mean_busy_ns", render::to_json(load.mean_busy_ns)},
          {"most_busy_ns", load.most_busy_ns},
          {"least_blocks", load.least_blocks},
          {"most_blocks", load.most_blocks},
          {"tail_effect", number_json(load.tail_effect)}};
}

/// Adds `name`, and where there is no such figure the reason under `why_not`.
template <class Value>
void put(Json& figures, const char* name, const Figure<Value>& figure) {
  figures[name] = figure ? to_json(*figure) : Json(nullptr);
  if (!figure) figures["why_not"][name] = figure.why_not;
}

Json launch_json(const Analysis& analysis) {
  const gpu::StampedLaunch& launch = *analysis.launch;
  Json figures = Json::object();
  put(figures, "span_ns", analysis.span_ns);
  put(figures, "exit_range_ns", analysis.exit_range_ns);
  put(figures, "exit_spread", analysis.exit_spread);
  put(figures, "simt_efficiency", analysis.simt);
  put(figures, "stragglers", analysis.stragglers);
  put(figures, "exit_by_thread", analysis.pattern);
  put(figures, "entry_skew_ns", analysis.entry_skew);
  put(figures, "launch_ramp_ns", analysis.ramp_ns);
  put(figures, "waves", analysis.waves);
  put(figures, "sms", analysis.sms);
  put(figures, "self_cost", analysis.self_cost);
  return {{"run_id", launch.run_id},
          {"test", launch.test},
          {"gpu_kernel", launch.gpu_kernel},
          {"launch", launch.launch},
          {"device", launch.device.empty() ? Json(nullptr) : Json(launch.device)},
          {"grid", size_json(launch.grid)},
          {"block", size_json(launch.block)},
          {"stamps", launch.scopes.size()},
          {"expected_stamps", render::to_json(analysis.expected)},
          {"overflowed", render::to_json(launch.overflowed)},
          {"timer_step_ns", render::to_json(launch.timer_step_ns)},
          {"resolution_ns", render::to_json(analysis.resolution_ns)},
          {"least_difference_ns", render::to_json(analysis.least_difference_ns)},
          {"gpu_anchor_ns", render::to_json(launch.gpu_anchor_ns)},
          {"host_anchor_ns", render::to_json(launch.host_anchor_ns)},
          {"anchor_error_ns", render::to_json(launch.anchor_error_ns)},
          {"figures", std::move(figures)}};
}

/// The earliest time of a launch: what the CSV's times are counted from.
Recorded first_time(const gpu::StampedLaunch& launch) {
  Recorded first;
  for (const auto* stamps : {&launch.scopes, &launch.marks}) {
    for (const gpu::Stamp& stamp : *stamps) {
      for (const Recorded& time : {stamp.entry_ns, stamp.first_exit_ns, stamp.exit_ns}) {
        if (time) first = std::min(first.value_or(*time), *time);
      }
    }
  }
  return first;
}

}  // namespace

std::string stamps_json(const std::string& file, const std::vector<Analysis>& analyses) {
  Json launches = Json::array();
  for (const Analysis& analysis : analyses) launches.push_back(launch_json(analysis));
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "show"},
                       {"stamps", file},
                       {"launches", std::move(launches)}});
}

std::string stamps_csv(const std::vector<Analysis>& analyses) {
  render::CsvWriter csv({"test",          "gpu_kernel",   "launch",         "record",
                         "block_idx_x",   "block_idx_y",  "block_idx_z",    "thread_idx_x",
                         "thread_idx_y",  "thread_idx_z", "warp",           "sm",
                         "mark",          "times",        "first_stamp_ns", "entry_ns",
                         "first_exit_ns", "exit_ns",      "entry_cycles",   "first_exit_cycles",
                         "exit_cycles",   "work",         "work_max"});
  const auto cell = [&csv](const Recorded& value) { csv.cell(value ? std::to_string(*value) : std::string()); };
  for (const Analysis& analysis : analyses) {
    const gpu::StampedLaunch& launch = *analysis.launch;
    const Recorded first = first_time(launch);
    const auto time = [&](const Recorded& value) { cell(value ? Recorded(*value - *first) : value); };
    const auto place = [&](const std::optional<gpu::Extent3>& at) {
      cell(at ? Recorded(at->x) : std::nullopt);
      cell(at ? Recorded(at->y) : std::nullopt);
      cell(at ? Recorded(at->z) : std::nullopt);
    };
    for (const auto* stamps : {&launch.scopes, &launch.marks}) {
      for (const gpu::Stamp& stamp : *stamps) {
        csv.cell(launch.test).cell(launch.gpu_kernel).cell(std::to_string(launch.launch));
        csv.cell(stamp.mark ? gpu::kStampMark : gpu::kStampScope);
        place(stamp.block);
        place(stamp.thread);
        for (const Recorded& value : {stamp.warp, stamp.sm, stamp.mark, stamp.times, first}) cell(value);
        for (const Recorded& value : {stamp.entry_ns, stamp.first_exit_ns, stamp.exit_ns}) time(value);
        for (const Recorded& value :
             {stamp.entry_cycles, stamp.first_exit_cycles, stamp.exit_cycles, stamp.work, stamp.work_max}) {
          cell(value);
        }
        csv.end_row();
      }
    }
  }
  return csv.text();
}

}  // namespace syscost::bench::gpu_stamps
