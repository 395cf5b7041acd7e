// SPDX-License-Identifier: MIT
//
// show for machines: JSON with a schema version, CSV with one row per syscall and filled bucket.

#include <fmt/format.h>

#include <utility>

#include "commands/show/show.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using stats::SyscallLatency;

/// Filled rows only, from the smallest bucket.
std::vector<stats::Bar> filled_bars(const SyscallLatency& one, bool is_fine) {
  std::vector<stats::Bar> rows = stats::bars(one.latency, 0, kHistogramBuckets - 1, is_fine && !one.is_coarse);
  std::erase_if(rows, [](const stats::Bar& bar) { return bar.count == 0; });
  return rows;
}

render::Json syscalls_json(const std::vector<SyscallLatency>& syscalls, bool is_fine) {
  render::Json list = render::Json::array();
  for (const SyscallLatency& one : syscalls) {
    render::Json latency = nullptr;
    if (one.is_timed) {
      render::Json percentiles = render::Json::object();
      for (double fraction : stats::kPercentiles) {
        percentiles[fmt::format("p{:.0f}", fraction * 100)] = render::to_json(stats::percentile_ns(one, fraction));
      }
      render::Json buckets = render::Json::array();
      for (const stats::Bar& bar : filled_bars(one, is_fine)) {
        buckets.push_back({{"lower_ns", bar.lower_ns}, {"upper_ns", bar.upper_ns}, {"count", bar.count}});
      }
      latency = {{"count", one.latency.count()},
                 {"sum_ns", one.latency.sum_ns()},
                 {"min_ns", render::to_json(one.min_ns)},
                 {"max_ns", render::to_json(one.max_ns)},
                 {"percentiles_ns", std::move(percentiles)},
                 {"percentile_error", one.is_coarse ? render::Json(nullptr) : render::Json(0.0625)},
                 {"histogram", std::move(buckets)}};
    }
    list.push_back({{"syscall", one.name},
                    {"classes", render::classes_json(one.classes)},
                    {"calls", one.counts_entries ? render::Json(nullptr) : render::to_json(one.calls)},
                    {"entries", one.counts_entries ? render::to_json(one.calls) : render::Json(nullptr)},
                    {"errors", render::to_json(one.errors)},
                    {"per_run_calls", render::to_json(one.per_run_calls)},
                    {"bytes", render::to_json(one.bytes)},
                    {"bytes_released", render::to_json(one.bytes_released)},
                    {"short_calls", render::to_json(one.short_calls)},
                    {"injected", render::to_json(one.altered)},
                    {"errnos", one.errors ? render::Json(one.errnos) : render::Json(nullptr)},
                    {"latency", std::move(latency)}});
  }
  return list;
}

}  // namespace

std::string show_json(const model::Dataset& data, const std::vector<ShownWindow>& parts, bool is_fine) {
  const stats::WindowSummary& named = parts.front().window;
  render::Json loops = render::Json::array();
  render::Json traced = render::Json::array();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const stats::WindowSummary& window = parts[i].window;
    (window.origin == named.origin ? loops : traced)
        .push_back({{"loop", window.loop},
                    {"test", window.name},
                    {"origin", window.origin},
                    {"repetitions", window.n},
                    {"iterations", render::to_json(window.iterations)},
                    {"lost_sum", render::to_json(window.lost)},
                    {"syscalls", syscalls_json(parts[i].syscalls, is_fine)}});
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "show"},
                       {"run", render::source_json(data)},
                       {"test", named.name},
                       {"origin", named.origin},
                       {"repetitions", named.n},
                       {"lost_sum", render::to_json(named.lost)},
                       {"syscalls", syscalls_json(parts.front().syscalls, is_fine)},
                       {"loops", std::move(loops)},
                       {"traced", std::move(traced)}});
}

std::string show_csv(const std::vector<ShownWindow>& parts, bool is_fine) {
  render::CsvWriter csv({"test", "syscall", "origin", "lower_ns", "upper_ns", "count"});
  for (const ShownWindow& part : parts) {
    for (const SyscallLatency& one : part.syscalls) {
      for (const stats::Bar& bar : filled_bars(one, is_fine)) {
        csv.cell(part.window.name).cell(one.name).cell(std::string(part.window.origin));
        for (std::uint64_t number : {bar.lower_ns, bar.upper_ns, bar.count}) csv.number(static_cast<double>(number));
        csv.end_row();
      }
    }
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
