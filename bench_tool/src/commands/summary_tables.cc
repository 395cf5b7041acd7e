// SPDX-License-Identifier: MIT
#include "commands/summary_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "render/units.h"

namespace syscost::bench::commands {
namespace {

using render::Align;
using stats::Numbers;
using stats::SyscallSummary;

/// As strace prints them, but what would read 0.000000 and is not 0 gets three digits more.
std::string seconds(const Numbers& ns) {
  if (!ns) return render::kNotMeasured;
  return fmt::format("{:.{}f}", ns->median / 1e9, ns->median > 0 && ns->median < 500 ? 9 : 6);
}

/// Seconds over calls, in microseconds: a call that was restarted after signals is one call of many trips. Where calls
/// are not known, or none returned, it is per trip that did.
std::string usecs_per_call(const SyscallSummary& syscall) {
  const stats::CallFigures& all = syscall.with_per_run();
  if (!all.kernel_ns || !all.latency_count) return render::kNotMeasured;
  if (all.latency_count->median <= 0) return "";
  const bool has_calls = all.calls && all.calls->median > 0;
  return fmt::format("{:.3f}", all.kernel_ns->median / (has_calls ? *all.calls : *all.latency_count).median / 1e3);
}

/// `2 (2 ENOENT)`; blank for none, as strace prints it.
std::string errors_cell(const SyscallSummary& syscall) {
  if (!syscall.errors) return render::kNotMeasured;
  if (syscall.errors->max == 0) return "";
  return render::count(syscall.errors);
}

/// `18 ENOENT, 1 EACCES (per run)`.
std::string errnos_cell(const SyscallSummary& syscall) {
  std::string text;
  for (const auto& [name, spread] : syscall.errnos) {
    if (spread.max == 0) continue;  // all of it are per-run calls
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", render::count(std::optional(spread)), name);
  }
  for (const auto& [name, spread] : syscall.per_run_errnos) {
    text += fmt::format("{}{} {} (per run)", text.empty() ? "" : ", ", render::count(std::optional(spread)), name);
  }
  return text;
}

/// Blank for none, as errors are.
std::string per_run_cell(const Numbers& per_run) {
  if (!per_run) return render::kNotMeasured;
  return per_run->max == 0 ? "" : render::count(per_run);
}

/// `write`; says where trips into the kernel are counted for want of calls.
std::string name_cell(const SyscallSummary& syscall) {
  return syscall.name + (!syscall.calls && syscall.entries ? " (entries)" : "");
}

std::string rate_cell(const Numbers& calls, const Numbers& wall_ns) {
  if (!calls || !wall_ns || wall_ns->median <= 0) return render::kNotMeasured;
  const double rate = calls->median * 1e9 / wall_ns->median;
  return rate >= 100 ? fmt::format("{:.0f}", rate) : fmt::format("{:.3g}", rate);
}

/// Kernel time of one call that returned.
std::string each_cell(const SyscallSummary& syscall) {
  if (!syscall.kernel_ns || !syscall.latency_count) return render::kNotMeasured;
  if (syscall.latency_count->median <= 0) return "";
  return render::duration(syscall.kernel_ns->median / syscall.latency_count->median);
}

}  // namespace

render::Table syscall_table(const stats::WindowSummary& window, bool waits) {
  const Numbers& whole = waits ? window.wait_ns : window.work_ns;
  const bool has_per_run = stats::has_per_run_calls(window);
  std::vector<render::TableColumn> columns = {{waits ? "% of waits" : "% of work", Align::right},
                                              {"% of wall", Align::right},
                                              {"seconds", Align::right},
                                              {"usecs/call", Align::right},
                                              {"calls", Align::right},
                                              {"calls/s", Align::right},
                                              {"errors", Align::right},
                                              {waits ? "wait" : "syscall", Align::left},
                                              {"errnos", Align::left}};
  constexpr std::ptrdiff_t kPerRun = 5;  // beside the calls
  if (has_per_run) columns.insert(columns.begin() + kPerRun, {"per run", Align::right});
  render::Table table(columns);
  auto add_row = [&](std::vector<std::string> cells, const std::string& per_run) {
    if (has_per_run) cells.insert(cells.begin() + kPerRun, per_run);
    table.add_row(std::move(cells));
  };
  for (const SyscallSummary& syscall : window.syscalls) {
    if (syscall.is_wait != waits) continue;
    add_row(
        {render::percent(syscall.kernel_ns, whole), render::percent(syscall.kernel_ns, window.wall_ns),
         seconds(syscall.kernel_ns), usecs_per_call(syscall), render::count(syscall.count()),
         rate_cell(syscall.count(), window.wall_ns), errors_cell(syscall), name_cell(syscall), errnos_cell(syscall)},
        per_run_cell(syscall.per_run_calls));
  }
  if (!waits && !table.empty()) {
    add_row({whole && whole->median > 0 ? "100.0" : render::kNotMeasured, render::percent(whole, window.wall_ns),
             seconds(whole), "", render::count(window.work_calls), rate_cell(window.work_calls, window.wall_ns),
             render::count(window.work_errors), "total", ""},
            per_run_cell(window.per_run_work_calls));
  }
  return table;
}

render::Table loop_table(const stats::WindowSummary& loop, bool waits) {
  const Numbers& whole = waits ? loop.wait_ns : loop.work_ns;
  render::Table table({{waits ? "% of waits" : "% of work", Align::right},
                       {waits ? "blocked a call" : "kernel a call", Align::right},
                       {"each", Align::right},
                       {"calls a call", Align::right},
                       {"calls/s", Align::right},
                       {"errors", Align::right},
                       {waits ? "wait" : "syscall", Align::left},
                       {"errnos", Align::left}});
  for (const SyscallSummary& syscall : loop.syscalls) {
    if (syscall.is_wait != waits) continue;
    table.add_row({render::percent(syscall.kernel_ns, whole), render::duration(syscall.kernel_ns), each_cell(syscall),
                   render::count(syscall.count()), rate_cell(syscall.count(), loop.wall_ns), errors_cell(syscall),
                   name_cell(syscall), errnos_cell(syscall)});
  }
  const auto works = std::count_if(loop.syscalls.begin(), loop.syscalls.end(),
                                   [](const SyscallSummary& syscall) { return !syscall.is_wait; });
  if (!waits && works > 1) {
    table.add_row({whole && whole->median > 0 ? "100.0" : render::kNotMeasured, render::duration(whole), "",
                   render::count(loop.work_calls), rate_cell(loop.work_calls, loop.wall_ns),
                   render::count(loop.work_errors), "total", ""});
  }
  return table;
}

}  // namespace syscost::bench::commands
