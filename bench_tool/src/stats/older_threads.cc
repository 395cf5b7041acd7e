// SPDX-License-Identifier: MIT
#include "stats/older_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "judge/direction.h"
#include "model/lists.h"
#include "stats/baseline_windows.h"
#include "syscost/schema.h"

namespace syscost::bench::stats {
namespace {

using model::NameId;
using model::Sample;
using model::SyscallRow;

using ProgramRun = std::pair<std::uint32_t, NameId>;  // file, run id
using ProgramProcess = std::tuple<std::uint32_t, std::uint64_t>;

/// What the runs of a program say.
struct ProgramSums {
  bool is_known = true;
  bool has_tests = false;
  std::set<ProgramProcess> processes;
  std::set<ProgramProcess> with_between;
  /// Syscall -> its classes, and calls by run.
  std::map<std::string, std::pair<NameId, std::map<ProgramRun, double>>> syscalls;
  std::set<ProgramRun> runs;
  bool has_entries = true;
  bool has_calls = true;
  std::set<std::string_view> filters;
};

constexpr const char* kOlderThreads = "older threads";

std::string title_of(std::string_view program) {
  return fmt::format("{}, {}", program, kOlderThreads);
}

bool is_in_sum(std::string_view kind) {
  return kind == "test" || kind == "suite" || kind == "environment" || kind == schema::kKindBetween;
}

/// Calls of other threads that a window did not start, without failures that only say "too early"; nothing if unknown.
std::optional<double> of_older_threads(const model::Dataset& data, const SyscallRow& row, bool is_test) {
  if (!row.by_older_threads.has_value() || !row.by_started_threads.has_value()) return std::nullopt;
  if (row.injected.value_or(0) > 0) return std::nullopt;
  auto calls = static_cast<double>(*row.by_older_threads);
  if (!is_test) calls += static_cast<double>(*row.by_started_threads);
  // Without entries a call counts where it ends. One that another window saw begin is of no one who began here.
  if (!row.entries.has_value()) calls += static_cast<double>(row.carried_in.value_or(0));
  if (row.errnos == model::kNoName) return calls;
  const auto errnos = model::parse_errnos(data.text(row.errnos));
  if (!errnos) return std::nullopt;
  for (const auto& [name, failures] : *errnos) {
    if (judge::is_too_early(data.text(row.syscall), name)) calls -= static_cast<double>(failures);
  }
  return std::max(calls, 0.0);
}

void add_window(const model::Dataset& data, std::uint32_t index, ProgramSums& program) {
  const Sample& sample = data.samples[index];
  const std::string& kind = data.text(sample.kind);
  const model::Context& context = data.context(sample);
  const bool is_test = kind == "test";
  const bool is_lossy = sample.totals.lost.value_or(0) + sample.totals.late.value_or(0) > 0;
  const bool has_counts = sample.totals.entries.has_value() || sample.totals.calls.has_value();
  if (is_lossy || !has_counts || data.text(sample.totals.outcome) == "failed") program.is_known = false;
  const ProgramRun run(context.file, context.run_id);
  program.has_tests = program.has_tests || is_test;
  program.runs.insert(run);
  program.filters.insert(data.text(context.filter));
  program.has_entries = program.has_entries && sample.totals.entries.has_value();
  program.has_calls = program.has_calls && sample.totals.calls.has_value();
  program.processes.emplace(sample.context, sample.pid);
  if (kind == schema::kKindBetween) program.with_between.emplace(sample.context, sample.pid);
  for (const SyscallRow& row : data.rows_of(index)) {
    const std::optional<double> calls = of_older_threads(data, row, is_test);
    if (!calls) {
      program.is_known = false;
      return;
    }
    if (*calls == 0) continue;
    auto& [classes, by_run] = program.syscalls[data.text(row.syscall)];
    classes = row.classes;
    by_run[run] += *calls;
  }
}

WindowSummary window_of_program(const model::Dataset& data, const std::string& name, const ProgramSums& program) {
  WindowSummary out;
  out.name = title_of(name);
  out.kind = schema::kKindBetween;
  out.origin = schema::kOriginSyscost;
  out.n = program.runs.size();
  out.filters = program.filters;
  out.has_other_threads = true;
  out.late = out.lost = 0;
  const auto spread = [&](const std::map<ProgramRun, double>& by_run) {
    std::vector<double> values;
    for (const ProgramRun& run : program.runs) {
      const auto found = by_run.find(run);
      values.push_back(found == by_run.end() ? 0.0 : found->second);
    }
    return spread_of(std::move(values));
  };
  std::map<ProgramRun, double> all;
  for (const auto& [syscall, its] : program.syscalls) {
    const auto& [classes, by_run] = its;
    SyscallSummary& one = out.syscalls.emplace_back();
    one.name = syscall;
    one.classes = data.text(classes);
    one.is_wait = model::has_class(one.classes, "wait");
    one.timely = spread(by_run);
    if (program.has_calls) one.calls = one.timely;
    if (program.has_entries) one.entries = one.timely;
    one.errors = Spread{out.n, 0, 0, 0};
    one.errnos.emplace();
    for (const auto& [run, calls] : by_run) all[run] += calls;
  }
  if (program.has_calls) out.calls = out.spread_calls = spread(all);
  if (program.has_entries) out.entries = out.spread_entries = spread(all);
  return out;
}

}  // namespace

OlderThreads older_threads_of(const model::Dataset& data) {
  std::map<std::string, ProgramSums, std::less<>> programs;
  for (const Sample& sample : data.samples) {
    if (data.text(sample.kind) == schema::kKindBetween) programs[data.text(data.context(sample).program)];
  }
  if (programs.empty()) return {};
  for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
    const Sample& sample = data.samples[i];
    if (data.text(sample.origin) != schema::kOriginSyscost || !is_in_sum(data.text(sample.kind))) continue;
    const auto program = programs.find(data.text(data.context(sample).program));
    if (program != programs.end() && program->second.is_known) add_window(data, i, program->second);
  }
  OlderThreads all;
  for (const auto& [name, program] : programs) {
    const bool is_whole = program.is_known && program.has_tests && program.processes == program.with_between;
    if (!is_whole) continue;
    const auto [at, is_new] = all.emplace(name, window_of_program(data, name, program));
    at->second.program = at->first;
  }
  return all;
}

OlderThreads older_threads_of(const model::Baseline& baseline) {
  OlderThreads all;
  for (const model::BaselineWindow& window : baseline.programs) {
    WindowSummary& out = all.emplace(window.program, from_baseline(baseline, window)).first->second;
    out.name = title_of(window.program);
  }
  return all;
}

std::vector<model::BaselineWindow> to_baseline(const OlderThreads& programs) {
  std::vector<model::BaselineWindow> windows;
  for (const auto& [program, window] : programs) {
    windows.push_back(to_baseline(window, program, kOlderThreads));
  }
  return windows;
}

std::vector<std::string> judged_by_program(const OlderThreads& old_side, const OlderThreads& new_side,
                                           const std::set<std::string, std::less<>>& left_out) {
  std::vector<std::string> programs;
  for (const auto& [name, before] : old_side) {
    const auto after = new_side.find(name);
    if (after == new_side.end() || left_out.contains(name)) continue;
    const bool counts_alike = before.calls.has_value() == after->second.calls.has_value() &&
                              before.entries.has_value() == after->second.entries.has_value();
    if (counts_alike && before.filters == after->second.filters) programs.push_back(name);
  }
  return programs;
}

bool is_quiet_program(const Comparison& row) {
  const bool is_as_before = row.verdict == Verdict::same || row.verdict == Verdict::near;
  return is_as_before && row.new_window != nullptr && row.new_window->kind == schema::kKindBetween;
}

void tell_older_apart(const std::vector<std::string>& programs, std::vector<WindowSummary>& windows) {
  for (WindowSummary& window : windows) {
    const bool is_part = window.is_ours() && (window.kind == "test" || window.is_set_up());
    window.tells_older_apart = is_part && std::find(programs.begin(), programs.end(), window.program) != programs.end();
  }
}

}  // namespace syscost::bench::stats
