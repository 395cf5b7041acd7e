// SPDX-License-Identifier: MIT
//
// summary for machines: JSON with a schema version, CSV with one row per test and syscall.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "commands/summary/summary.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using render::Json;
using render::to_json;

Json errnos_json(const std::optional<stats::ErrnoNumbers>& measured) {
  if (!measured) return nullptr;
  const stats::ErrnoNumbers& numbers = *measured;
  Json errnos = Json::object();
  for (const auto& [name, spread] : numbers) errnos[name] = to_json(std::optional(spread));
  return errnos;
}

Json syscall_json(const stats::SyscallSummary& syscall) {
  return {{"syscall", syscall.name},
          {"classes", render::classes_json(syscall.classes)},
          {"calls", to_json(syscall.calls)},
          {"entries", to_json(syscall.entries)},
          {"errors", to_json(syscall.errors)},
          {"errnos", errnos_json(syscall.errnos)},
          {"per_run_calls", to_json(syscall.per_run_calls)},
          {"per_run_errors", to_json(syscall.per_run_errors)},
          {"per_run_errnos", syscall.per_run_errors ? errnos_json(syscall.per_run_errnos) : Json(nullptr)},
          {"kernel_ns", to_json(syscall.kernel_ns)},
          {"bytes", to_json(syscall.bytes)},
          {"bytes_released", to_json(syscall.bytes_released)},
          {"short_calls", to_json(syscall.short_calls)},
          {"injected", to_json(syscall.altered)},
          {"restarts_sum", to_json(syscall.restarts)},
          {"in_flight_sum", to_json(syscall.in_flight)},
          {"no_return_sum", to_json(syscall.no_return)},
          {"carried_in_sum", to_json(syscall.carried_in)},
          {"denied_sum", to_json(syscall.denied)}};
}

Json window_json(const SummarizedRun& run, const stats::WindowSummary& window) {
  Json outcomes = Json::object();
  for (const auto& [outcome, times] : window.outcomes) outcomes[std::string(outcome)] = times;
  Json syscalls = Json::array();
  for (const stats::SyscallSummary& syscall : window.syscalls) syscalls.push_back(syscall_json(syscall));
  return {{"run", run.data.name},
          {"test", window.name},
          {"repetitions", window.n},
          {"loop", window.loop.empty() ? Json(nullptr) : Json(std::string(window.loop))},
          {"excludes", window.excludes},
          {"per_iteration", window.is_per_iteration},
          {"outcomes", std::move(outcomes)},
          {"iterations", to_json(window.iterations)},
          {"wall_ns", to_json(window.wall_ns)},
          {"user_ns", to_json(window.user_ns)},
          {"system_ns", to_json(window.system_ns)},
          {"cpu_ns", to_json(window.cpu_ns)},
          {"overhead_estimate_ns", to_json(window.overhead_ns)},
          {"calls", to_json(window.calls)},
          {"entries", to_json(window.entries)},
          {"errors", to_json(window.errors)},
          {"per_run_calls", to_json(window.per_run_calls)},
          {"work_ns", to_json(window.work_ns)},
          {"wait_ns", to_json(window.wait_ns)},
          {"bytes_read", to_json(window.bytes_read)},
          {"bytes_written", to_json(window.bytes_written)},
          {"bytes_mapped", to_json(window.bytes_mapped)},
          {"bytes_unmapped", to_json(window.bytes_unmapped)},
          {"peak_rss_bytes", to_json(window.peak_rss_bytes)},
          {"descriptors_left", to_json(window.descriptors_left)},
          {"threads_left", to_json(window.threads_left)},
          {"children_left", to_json(window.children_left)},
          {"mapped_bytes_left", to_json(window.mapped_bytes_left)},
          {"peak_mapped_bytes", to_json(window.peak_mapped_bytes)},
          {"left_open", window.unclosed},
          {"late_sum", to_json(window.late)},
          {"lost_sum", to_json(window.lost)},
          {"syscalls", std::move(syscalls)},
          {"findings", remarks(run, window)}};
}

// ---- CSV ------------------------------------------------------------------------------------------------------------

struct CsvRow {
  const std::string& run;
  const stats::WindowSummary& window;
  const stats::SyscallSummary* syscall;  ///< Null: the window made no syscall.
};

struct CsvColumn {
  std::string_view name;
  void (*write)(render::CsvWriter& csv, const CsvRow& row);
};

using Writer = render::CsvWriter;

/// The median of a syscall's number.
template <auto field>
void write_median(Writer& csv, const CsvRow& row) {
  csv.number(row.syscall != nullptr ? render::median(row.syscall->*field) : std::nullopt);
}

/// A sum over the window's repetitions.
template <auto field>
void write_sum(Writer& csv, const CsvRow& row) {
  const std::optional<std::uint64_t>& sum = row.window.*field;
  csv.number(sum ? std::optional(static_cast<double>(*sum)) : std::nullopt);
}

void write_count(Writer& csv, std::size_t number) {
  csv.number(static_cast<double>(number));
}

void write_calls(Writer& csv, const CsvRow& row) {
  csv.number(render::median(row.syscall != nullptr ? row.syscall->calls : row.window.calls));
}

void write_calls_min(Writer& csv, const CsvRow& row) {
  const bool has_calls = row.syscall != nullptr && row.syscall->calls;
  csv.number(has_calls ? std::optional(row.syscall->calls->min) : std::nullopt);
}

void write_calls_max(Writer& csv, const CsvRow& row) {
  const bool has_calls = row.syscall != nullptr && row.syscall->calls;
  csv.number(has_calls ? std::optional(row.syscall->calls->max) : std::nullopt);
}

void write_errnos(Writer& csv, const CsvRow& row) {
  std::string errnos;
  if (row.syscall != nullptr && row.syscall->errnos) {
    for (const auto& [name, spread] : *row.syscall->errnos) {
      errnos += (errnos.empty() ? "" : " ") + name + ':' + render::plain(spread.median);
    }
  }
  csv.cell(errnos);
}

/// What was counted; "" if everything was. Numbers of other syscalls are not known.
std::string filter_cell(const stats::WindowSummary& window) {
  return window.counted_everything() ? "" : stats::filter_text(window);
}

void write_outcomes(Writer& csv, const CsvRow& row) {
  std::string outcomes;
  for (const auto& [outcome, count] : row.window.outcomes) {
    outcomes += fmt::format("{}{}:{}", outcomes.empty() ? "" : " ", outcome, count);
  }
  csv.cell(outcomes);
}

using stats::SyscallSummary;
using stats::WindowSummary;

/// A new column goes to the end, because programs may read columns by their position.
constexpr CsvColumn kCsvColumns[] = {
    {"run", [](Writer& csv, const CsvRow& row) { csv.cell(row.run); }},
    {"test", [](Writer& csv, const CsvRow& row) { csv.cell(row.window.name); }},
    {"repetitions", [](Writer& csv, const CsvRow& row) { write_count(csv, row.window.n); }},
    {"wall_ns", [](Writer& csv, const CsvRow& row) { csv.number(render::median(row.window.wall_ns)); }},
    {"syscall", [](Writer& csv, const CsvRow& row) { csv.cell(row.syscall != nullptr ? row.syscall->name : ""); }},
    {"class", [](Writer& csv, const CsvRow& row) { csv.cell(row.syscall != nullptr ? row.syscall->classes : ""); }},
    {"calls", write_calls},
    {"calls_min", write_calls_min},
    {"calls_max", write_calls_max},
    {"entries", write_median<&SyscallSummary::entries>},
    {"errors", write_median<&SyscallSummary::errors>},
    {"errnos", write_errnos},
    {"kernel_ns", write_median<&SyscallSummary::kernel_ns>},
    {"per_iteration", [](Writer& csv, const CsvRow& row) { write_count(csv, row.window.is_per_iteration ? 1 : 0); }},
    {"outcomes", write_outcomes},
    // How reliable the numbers of a row are: if lost, late or incomplete is above 0, counts are lower bounds.
    {"late", write_sum<&WindowSummary::late>},
    {"lost", write_sum<&WindowSummary::lost>},
    {"incomplete", [](Writer& csv, const CsvRow& row) { write_count(csv, row.window.incomplete); }},
    {"uncounted", [](Writer& csv, const CsvRow& row) { write_count(csv, row.window.uncounted); }},
    {"per_run_calls", write_median<&SyscallSummary::per_run_calls>},
    {"per_run_errors", write_median<&SyscallSummary::per_run_errors>},
    {"bytes", write_median<&SyscallSummary::bytes>},
    {"bytes_released", write_median<&SyscallSummary::bytes_released>},
    {"short_calls", write_median<&SyscallSummary::short_calls>},
    {"injected", write_median<&SyscallSummary::altered>},
    {"filter", [](Writer& csv, const CsvRow& row) { csv.cell(filter_cell(row.window)); }},
};

}  // namespace

std::string summary_json(const std::vector<SummarizedRun>& runs) {
  Json sources = Json::array();
  Json tests = Json::array();
  for (const SummarizedRun& run : runs) {
    sources.push_back(render::source_json(run.data));
    for (const stats::WindowSummary& window : run.windows) tests.push_back(window_json(run, window));
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "summary"},
                       {"runs", std::move(sources)},
                       {"tests", std::move(tests)}});
}

std::string summary_csv(const std::vector<SummarizedRun>& runs) {
  std::vector<std::string_view> names;
  for (const CsvColumn& column : kCsvColumns) names.push_back(column.name);
  render::CsvWriter csv(names);
  const auto add = [&](const CsvRow& row) {
    for (const CsvColumn& column : kCsvColumns) column.write(csv, row);
    csv.end_row();
  };
  for (const SummarizedRun& run : runs) {
    for (const stats::WindowSummary& window : run.windows) {
      // A test without a syscall keeps its row, because it was measured and made none.
      if (window.syscalls.empty()) add({run.data.name, window, nullptr});
      for (const stats::SyscallSummary& syscall : window.syscalls) add({run.data.name, window, &syscall});
    }
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
