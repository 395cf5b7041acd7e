// SPDX-License-Identifier: MIT
//
// compare for machines: every test, changed or not: what is the same is an answer too.

#include "commands/compare/compare_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/compare/compare.h"
#include "commands/shared/gate.h"
#include "judge/row_times.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using render::Json;
using render::to_json;

Json side_json(const stats::WindowSummary* window) {
  if (window == nullptr) return nullptr;
  return {{"test", window->name},
          {"repetitions", window->n},
          {"per_iteration", window->is_per_iteration},
          {"wall_ns", to_json(window->wall_ns)},
          {"cpu_ns", to_json(window->cpu_ns)},
          {"overhead_estimate_ns", to_json(window->overhead_ns)},
          {"calls", to_json(window->calls)},
          {"entries", to_json(window->entries)},
          {"errors", to_json(window->errors)},
          {"per_run_calls", to_json(window->per_run_calls)},
          {"work_ns", to_json(window->work_ns)},
          {"wait_ns", to_json(window->wait_ns)},
          {"lost_sum", to_json(window->lost)}};
}

Json interval_json(const std::optional<stats::Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"level", interval->level}};
}

Json median_json(const std::optional<stats::MedianInterval>& median) {
  if (!median) return nullptr;
  return {{"median", median->median}, {"interval", interval_json(median->interval)}};
}

/// The judged values, one number a sample, in the order of the file.
std::vector<double> samples_of(const judge::Comparison& row, const TimeKind& kind, const stats::WindowSummary* window) {
  if (window == nullptr) return {};
  const bool are_processes = judge::samples_are_processes(row);
  if (kind.verdict == kCpuTime.verdict) return are_processes ? window->cpu.process_times_ns : window->cpu.times_ns;
  return are_processes ? window->process_times_ns : window->times_ns;
}

/// `12.5 13`: as errnos are listed in our CSV.
std::string samples_text(const judge::Comparison& row, const TimeKind& kind, const stats::WindowSummary* window) {
  std::string text;
  for (const double value : samples_of(row, kind, window)) text += (text.empty() ? "" : " ") + render::plain(value);
  return text;
}

Json time_json(const judge::Comparison& row, const TimeKind& kind) {
  if (!(row.*kind.verdict)) return nullptr;
  const judge::TimeVerdict& time = *(row.*kind.verdict);
  auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"verdict", std::string(judge::to_string(time.verdict))},
          {"reason", time.reason},
          {"sample", judge::samples_are_processes(row) ? "process" : "repetition"},
          {"old_ns", median_json(time.old_median)},
          {"new_ns", median_json(time.new_median)},
          {"old_samples_ns", samples_of(row, kind, row.old_window)},
          {"new_samples_ns", samples_of(row, kind, row.new_window)},
          {"ratio", time.ratio ? Json(time.ratio->estimate) : Json(nullptr)},
          {"ratio_interval", time.ratio ? interval_json(time.ratio->interval) : Json(nullptr)},
          {"p", number(time.p)},
          {"adjusted_p", number(time.adjusted_p)},
          {"needed_n", time.needed_n == 0 ? Json(nullptr) : Json(time.needed_n)}};
}

/// The lines of a changed count; null if they are not known.
Json sites_json(const judge::Delta& delta) {
  if (delta.sites.empty()) return nullptr;
  Json sites = Json::array();
  for (const stats::SiteChange& one : delta.sites) {
    using Kind = stats::SiteChange::Kind;
    Json json = site_json(one.site);
    json["change"] = one.kind == Kind::is_new   ? "new"
                     : one.kind == Kind::gone   ? "gone"
                     : one.kind == Kind::in_new ? "in_new"
                     : one.more() > 0           ? "grew"
                                                : "shrank";
    json["old"] = one.kind == Kind::in_new ? Json(nullptr) : to_json(one.old_count.median);
    json["new"] = to_json(one.new_count.median);
    sites.push_back(std::move(json));
  }
  return sites;
}

Json laws_json(const CompareResult& result) {
  Json changes = Json::array();
  for (const scale::LawChange& one : result.law_changes) {
    const auto rate = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    changes.push_back({{"family", one.family},
                       {"count", one.title},
                       {"old_law", one.old_law},
                       {"new_law", one.new_law},
                       {"old_rate", rate(one.old_rate)},
                       {"new_rate", rate(one.new_rate)}});
  }
  return changes;
}

/// Null if nothing is.
Json acceptances_json(const judge::Comparison& row) {
  if (!row.needs_acceptance) return nullptr;
  Json all = Json::array();
  for (const judge::Acceptance& one : row.acceptances) all.push_back({{"reason", one.reason}, {"where", one.where}});
  return all;
}

Json row_json(const judge::Comparison& row) {
  Json deltas = Json::array();
  for (const judge::Delta& delta : row.deltas) {
    const bool is_accepted = delta.is_accepted && row.needs_acceptance;
    deltas.push_back({{"syscall", delta.syscall},
                      {"errno", delta.errno_name.empty() ? Json(nullptr) : Json(delta.errno_name)},
                      {"per_run", delta.is_per_run},
                      {"old", to_json(delta.old_count.median)},
                      {"new", to_json(delta.new_count.median)},
                      {"old_range", {to_json(delta.old_count.min), to_json(delta.old_count.max)}},
                      {"new_range", {to_json(delta.new_count.min), to_json(delta.new_count.max)}},
                      {"change", delta.change == judge::Change::grew     ? "grew"
                                 : delta.change == judge::Change::shrank ? "shrank"
                                                                         : "near"},
                      {"rule", judge::to_string(is_accepted ? judge::Rule::accept : delta.rule)},
                      {"in_doubt", delta.is_in_doubt},
                      {"gated", delta.is_gated()},
                      {"accepted", is_accepted},
                      {"new_errno", delta.is_new_errno && !delta.errno_name.empty()},
                      {"sites", sites_json(delta)}});
  }
  Json split = nullptr;
  if (const auto of_kernel = judge::split_kernel_time(row)) {
    split = {{"more_calls", of_kernel->more_calls_ns}, {"slower_calls", of_kernel->slower_calls_ns}};
  }
  return {{"test", row.name},
          {"verdict", std::string(judge::to_string(row.verdict))},
          {"rule", judge::to_string(row.rule)},
          {"reason", row.reason},
          {"accepted", acceptances_json(row)},
          {"counts", row.counts_entries ? "entries" : "calls"},
          {"errnos_compared", !row.lacks_errnos_of_old && !row.lacks_errnos_of_new},
          {"old", side_json(row.old_window)},
          {"new", side_json(row.new_window)},
          {"time", time_json(row, kWallTime)},
          {"cpu", time_json(row, kCpuTime)},
          {"deltas", std::move(deltas)},
          {"work_ns_change", std::move(split)}};
}

void add_time(render::CsvWriter& csv, const std::optional<judge::TimeVerdict>& time) {
  const bool has_ratio = time && time->ratio;
  const bool has_interval = has_ratio && time->ratio->interval;
  csv.cell(time ? judge::to_string(time->verdict) : "");
  csv.number(has_ratio ? std::optional(time->ratio->estimate) : std::nullopt);
  csv.number(has_interval ? std::optional(time->ratio->interval->low) : std::nullopt);
  csv.number(has_interval ? std::optional(time->ratio->interval->high) : std::nullopt);
  csv.number(time ? time->adjusted_p : std::nullopt);
}

}  // namespace

Json comparison_json(const judge::Comparison& row) {
  return row_json(row);
}

Json tests_json(const CompareResult& result) {
  Json tests = Json::array();
  for (const judge::Comparison& row : result.rows) {
    Json one = row_json(row);
    const std::vector<std::string_view> by = gate_failures(row, result.gate);
    one["gate"] = by.empty() ? "green" : "red";
    one["fails_by"] = by;
    tests.push_back(std::move(one));
  }
  return tests;
}

std::string compare_json(const CompareResult& result) {
  Json allowed = Json::array();
  if (result.gate.allows_missing) allowed.push_back("missing");
  if (result.gate.allows_failed) allowed.push_back("failed");
  if (result.gate.allows_skipped) allowed.push_back("skipped");
  if (result.gate.allows_retried) allowed.push_back("retried");
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "compare"},
                       {"verdict", result.conclusion.word()},
                       {"exit_code", result.conclusion.exit_code},
                       {"causes", causes_json(causes_of(failing_rows(result), result.gate))},
                       {"old", render::source_json(result.old_data)},
                       {"new", render::source_json(result.new_data)},
                       {"paired", result.paired},
                       {"times_comparable", result.comparable.measured},
                       {"loop_and_benchmark_times_comparable", result.comparable.unmeasured},
                       {"law_changes", laws_json(result)},
                       {"warnings", result.warnings},
                       {"further_runs", result.further_runs.empty() ? Json() : Json(result.further_runs)},
                       {"count_rules", result.count_rules.empty() ? Json() : Json(result.count_rules)},
                       {"gate",
                        {{"measures", gated_measures(result.gate)},
                         {"allowed", std::move(allowed)},
                         {"fails", result.failing != 0 || !lost_programs(result).empty()},
                         {"failing_tests", result.failing}}},
                       {"tests", tests_json(result)}});
}

std::string compare_csv(const CompareResult& result) {
  render::CsvWriter csv({"test",
                         "verdict",
                         "reason",
                         "old_repetitions",
                         "new_repetitions",
                         "old_wall_ns",
                         "new_wall_ns",
                         "old_overhead_estimate_ns",
                         "new_overhead_estimate_ns",
                         "old_per_iteration",
                         "new_per_iteration",
                         "old_calls",
                         "new_calls",
                         "old_entries",
                         "new_entries",
                         "change",
                         "time_verdict",
                         "time_ratio",
                         "time_ratio_low",
                         "time_ratio_high",
                         "time_adjusted_p",
                         "old_per_run_calls",
                         "new_per_run_calls",
                         "old_cpu_ns",
                         "new_cpu_ns",
                         "cpu_verdict",
                         "cpu_ratio",
                         "cpu_ratio_low",
                         "cpu_ratio_high",
                         "cpu_adjusted_p",
                         "time_p",
                         "cpu_p",
                         "gate_fails_by",
                         "old_wall_samples_ns",
                         "new_wall_samples_ns",
                         "old_cpu_samples_ns",
                         "new_cpu_samples_ns"});
  auto median = [](const stats::WindowSummary* window, stats::Numbers stats::WindowSummary::*field) {
    return window == nullptr ? std::nullopt : render::median(window->*field);
  };
  auto repetitions = [](const stats::WindowSummary* window) {
    return window == nullptr ? std::nullopt : std::optional(static_cast<double>(window->n));
  };
  auto is_per_iteration = [](const stats::WindowSummary* window) {
    return window == nullptr ? std::nullopt : std::optional(window->is_per_iteration ? 1.0 : 0.0);
  };
  for (const judge::Comparison& row : result.rows) {
    csv.cell(row.name).cell(judge::to_string(row.verdict)).cell(row.reason);
    csv.number(repetitions(row.old_window)).number(repetitions(row.new_window));
    auto medians = [&](stats::Numbers stats::WindowSummary::*field) {
      csv.number(median(row.old_window, field)).number(median(row.new_window, field));
    };
    medians(&stats::WindowSummary::wall_ns);
    medians(&stats::WindowSummary::overhead_ns);
    csv.number(is_per_iteration(row.old_window)).number(is_per_iteration(row.new_window));
    medians(&stats::WindowSummary::calls);
    medians(&stats::WindowSummary::entries);
    csv.cell(breakdown(row));
    add_time(csv, row.time);
    medians(&stats::WindowSummary::per_run_calls);
    medians(&stats::WindowSummary::cpu_ns);
    add_time(csv, row.cpu);
    csv.number(row.time ? row.time->p : std::nullopt).number(row.cpu ? row.cpu->p : std::nullopt);
    csv.cell(fmt::format("{}", fmt::join(gate_failures(row, result.gate), ";")));
    for (const TimeKind& kind : {kWallTime, kCpuTime}) {
      csv.cell(samples_text(row, kind, row.old_window)).cell(samples_text(row, kind, row.new_window));
    }
    csv.end_row();
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
