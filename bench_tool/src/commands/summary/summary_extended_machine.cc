// SPDX-License-Identifier: MIT
//
// summary --stats-extended for machines.

#include <fmt/format.h>

#include <utility>

#include "commands/summary/summary.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using render::Json;

bool is_described(const stats::SyscallStatistics& one) {
  return one.is_timed && one.latency.count() > 0;
}

double mean_of(const Histogram& latency) {
  return static_cast<double>(latency.sum_ns()) / static_cast<double>(latency.count());
}

Json percentile_json(const stats::Percentile& one) {
  Json json = {{"fraction", one.fraction},
               {"low_ns", render::to_json(one.low_ns)},
               {"high_ns", render::to_json(one.high_ns)},
               {"interval", nullptr}};
  if (one.interval) {
    json["interval"] = {{"low_ns", render::to_json(one.interval->low)},
                        {"high_ns", render::to_json(one.interval->high)},
                        {"level", one.interval->level}};
  }
  return json;
}

Json statistics_json(const stats::SyscallStatistics& one) {
  Json json = {{"syscall", one.name},
               {"classes", render::classes_json(one.classes)},
               {"tests", one.tests},
               {"calls", render::to_json(one.calls)},
               {"latency", nullptr}};
  if (!is_described(one)) return json;
  const stats::Deviation deviation = stats::deviation_of(one.latency);
  Json percentiles = Json::array();
  for (const double fraction : kExtendedPercentiles) {
    percentiles.push_back(percentile_json(stats::percentile_of(one.latency, fraction)));
  }
  json["latency"] = {{"count", one.latency.count()},         {"mean_ns", mean_of(one.latency)},
                     {"deviation_low_ns", deviation.low_ns}, {"deviation_high_ns", deviation.high_ns},
                     {"min_ns", one.latency.min_ns()},       {"max_ns", one.latency.max_ns()},
                     {"percentiles", std::move(percentiles)}};
  return json;
}

Json measure_json(const MeasureOutliers& measure) {
  Json found = Json::array();
  for (const stats::Outlier& one : measure.outliers.found) {
    found.push_back({{"test", measure.tests[one.test].window},
                     {"severity", std::string(to_string(one.severity))},
                     {"z", one.z},
                     {"value", render::to_json(one.value)}});
  }
  return {{"measure", std::string(measure.name)},
          {"group", measure.group},
          {"tests", measure.outliers.tests},
          {"median", measure.outliers.reason.empty() ? Json(measure.outliers.median) : Json(nullptr)},
          {"reason", measure.outliers.reason},
          {"found", std::move(found)}};
}

Json correlations_json(const ExtendedRun& run) {
  Json found = Json::array();
  for (const stats::Correlation& one : run.correlations.found) {
    found.push_back({{"first", run.series[one.first].syscall},
                     {"second", run.series[one.second].syscall},
                     {"rho", one.rho},
                     {"p", one.p}});
  }
  return {{"pairs", run.correlations.pairs},
          {"repeated", run.correlations.repeated},
          {"reason", run.correlations.reason},
          {"found", std::move(found)}};
}

}  // namespace

std::string extended_json(const std::vector<ExtendedRun>& runs) {
  Json list = Json::array();
  for (const ExtendedRun& run : runs) {
    Json syscalls = Json::array();
    for (const stats::SyscallStatistics& one : run.syscalls) syscalls.push_back(statistics_json(one));
    Json measures = Json::array();
    for (const MeasureOutliers& measure : run.measures) measures.push_back(measure_json(measure));
    for (const MeasureOutliers& measure : run.measures_of_groups) measures.push_back(measure_json(measure));
    list.push_back({{"run", render::source_json(run.data)},
                    {"tests", run.tests},
                    {"lossy_tests", run.lossy_tests},
                    {"syscalls", std::move(syscalls)},
                    {"outliers", std::move(measures)},
                    {"correlations", correlations_json(run)}});
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "summary"},
                       {"stats_extended", true},
                       {"runs", std::move(list)}});
}

std::string extended_csv(const std::vector<ExtendedRun>& runs) {
  render::CsvWriter csv({"run", "syscall", "tests", "calls", "mean_ns", "deviation_low_ns", "deviation_high_ns",
                         "p50_low_ns", "p50_high_ns", "p90_low_ns", "p90_high_ns", "p99_low_ns", "p99_high_ns",
                         "min_ns", "max_ns"});
  for (const ExtendedRun& run : runs) {
    for (const stats::SyscallStatistics& one : run.syscalls) {
      csv.cell(run.data.name).cell(one.name).number(static_cast<double>(one.tests));
      csv.number(one.calls ? std::optional(static_cast<double>(*one.calls)) : std::nullopt);
      const bool is_known = is_described(one);
      const auto if_known = [&](double value) { return is_known ? std::optional(value) : std::nullopt; };
      const stats::Deviation deviation = is_known ? stats::deviation_of(one.latency) : stats::Deviation();
      csv.number(is_known ? std::optional(mean_of(one.latency)) : std::nullopt);
      csv.number(if_known(deviation.low_ns)).number(if_known(deviation.high_ns));
      for (const double fraction : kExtendedPercentiles) {
        std::optional<stats::Interval> interval;
        if (is_known) interval = stats::percentile_of(one.latency, fraction).interval;
        csv.number(interval ? std::optional(interval->low) : std::nullopt);
        csv.number(interval ? std::optional(interval->high) : std::nullopt);
      }
      csv.number(if_known(static_cast<double>(one.latency.min_ns())));
      csv.number(if_known(static_cast<double>(one.latency.max_ns()))).end_row();
    }
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
