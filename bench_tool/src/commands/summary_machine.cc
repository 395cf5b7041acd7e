// SPDX-License-Identifier: MIT
//
// summary for machines: JSON with a schema version, CSV with one row per test and syscall.
#include <fmt/format.h>

#include <optional>

#include "commands/summary.h"
#include "render/csv_writer.h"
#include "render/json.h"
#include "render/units.h"

namespace syscost::bench::commands {
namespace {

using render::Json;
using render::to_json;

Json errnos_json(const stats::ErrnoNumbers& numbers) {
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
          {"per_run_errnos", errnos_json(syscall.per_run_errnos)},
          {"kernel_ns", to_json(syscall.kernel_ns)},
          {"restarts_sum", to_json(syscall.restarts)},
          {"in_flight_sum", to_json(syscall.in_flight)},
          {"no_return_sum", to_json(syscall.no_return)},
          {"carried_in_sum", to_json(syscall.carried_in)},
          {"denied_sum", to_json(syscall.denied)}};
}

Json window_json(const std::string& run, const stats::WindowSummary& window) {
  Json outcomes = Json::object();
  for (const auto& [outcome, times] : window.outcomes) outcomes[std::string(outcome)] = times;
  Json syscalls = Json::array();
  for (const stats::SyscallSummary& syscall : window.syscalls) syscalls.push_back(syscall_json(syscall));
  return {{"run", run},
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
          {"late_sum", to_json(window.late)},
          {"lost_sum", to_json(window.lost)},
          {"syscalls", std::move(syscalls)},
          {"findings", findings(window)}};
}

}  // namespace

std::string summary_json(const std::vector<SummarizedRun>& runs) {
  Json sources = Json::array();
  Json tests = Json::array();
  for (const SummarizedRun& run : runs) {
    sources.push_back(render::source_json(run.data));
    for (const stats::WindowSummary& window : run.windows) tests.push_back(window_json(run.data.name, window));
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "summary"},
                       {"runs", std::move(sources)},
                       {"tests", std::move(tests)}});
}

std::string summary_csv(const std::vector<SummarizedRun>& runs) {
  render::CsvWriter csv({"run",       "test",          "repetitions",   "wall_ns", "syscall", "class",
                         "calls",     "calls_min",     "calls_max",     "entries", "errors",  "errnos",
                         "kernel_ns", "per_iteration", "outcomes",      "late",    "lost",    "incomplete",
                         "uncounted", "per_run_calls", "per_run_errors"});
  auto cells = [&](const std::string& run, const stats::WindowSummary& window) -> render::CsvWriter& {
    return csv.cell(run).cell(window.name).number(static_cast<double>(window.n)).number(render::median(window.wall_ns));
  };
  // What the numbers of a row are worth: where lost, late or incomplete is above 0, counts are lower bounds.
  auto end_row = [&](const stats::WindowSummary& window, const stats::SyscallSummary* syscall) {
    std::string outcomes;
    for (const auto& [outcome, count] : window.outcomes) {
      outcomes += fmt::format("{}{}:{}", outcomes.empty() ? "" : " ", outcome, count);
    }
    const auto number = [&](std::optional<std::uint64_t> value) {
      csv.number(value ? std::optional(static_cast<double>(*value)) : std::nullopt);
    };
    csv.number(window.is_per_iteration ? 1.0 : 0.0).cell(outcomes);
    number(window.late);
    number(window.lost);
    number(window.incomplete);
    number(window.uncounted);
    csv.number(syscall != nullptr ? render::median(syscall->per_run_calls) : std::nullopt);
    csv.number(syscall != nullptr ? render::median(syscall->per_run_errors) : std::nullopt);
    csv.end_row();
  };
  for (const SummarizedRun& run : runs) {
    for (const stats::WindowSummary& window : run.windows) {
      // A test without a syscall keeps its row: it was measured, and the answer is none.
      if (window.syscalls.empty()) {
        cells(run.data.name, window).cell("").cell("").number(render::median(window.calls));
        for (int i = 0; i < 6; ++i) csv.cell("");
        end_row(window, nullptr);
      }
      for (const stats::SyscallSummary& syscall : window.syscalls) {
        std::string errnos;
        for (const auto& [name, spread] : syscall.errnos) {
          errnos += (errnos.empty() ? "" : " ") + name + ':' + render::plain(spread.median);
        }
        cells(run.data.name, window)
            .cell(syscall.name)
            .cell(syscall.classes)
            .number(render::median(syscall.calls))
            .number(syscall.calls ? std::optional(syscall.calls->min) : std::nullopt)
            .number(syscall.calls ? std::optional(syscall.calls->max) : std::nullopt)
            .number(render::median(syscall.entries))
            .number(render::median(syscall.errors))
            .cell(errnos)
            .number(render::median(syscall.kernel_ns));
        end_row(window, &syscall);
      }
    }
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
