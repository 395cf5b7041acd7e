// SPDX-License-Identifier: MIT
#include "commands/shared/summary_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "render/numbers.h"
#include "render/table.h"

namespace syscost::bench::commands {
namespace {

using render::Align;
using render::Cells;
using render::Shrinks;
using stats::Numbers;
using stats::SyscallSummary;

/// As strace prints them. A number that is not 0 and would read 0.000000 gets three more digits.
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
  for (const auto& [name, spread] : syscall.errnos.value_or(stats::ErrnoNumbers())) {
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

/// `write`. If calls are unknown and entries into the kernel are counted, it says so.
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

std::string count(const std::optional<double>& number) {
  return number ? render::count(*number) : render::kNotMeasured;
}

/// The title of a column of calls.
std::string calls_title(bool has_calls, bool has_entries) {
  if (!has_entries) return "calls";
  return has_calls ? "calls or entries" : "entries";
}

/// Blank for none, as strace prints it.
std::string errors(const std::optional<double>& number) {
  return number && *number == 0 ? "" : count(number);
}

/// `18 ENOENT, 1 EACCES`, the most frequent first.
std::string errnos(const SyscallTotal& total) {
  if (!total.errors) return {};  // those that are known are no sum
  std::vector<std::pair<double, std::string>> errnos;
  for (const auto& [name, number] : total.errnos) {
    if (number > 0) errnos.emplace_back(-number, name);
  }
  std::sort(errnos.begin(), errnos.end());
  std::string named;
  for (const auto& [number, name] : errnos) {
    named += fmt::format("{}{} {}", named.empty() ? "" : ", ", render::count(-number), name);
  }
  return named;
}

std::string each(const SyscallTotal& total) {
  const bool has_each = total.kernel_ns && total.calls && *total.calls > 0;
  return has_each ? render::duration(*total.kernel_ns / *total.calls) : "";
}

}  // namespace

std::string duration(const std::optional<double>& ns) {
  return ns ? render::duration(*ns) : render::kNotMeasured;
}

std::string share(const std::optional<double>& part, const std::optional<double>& whole) {
  return part && whole && *whole > 0 ? fmt::format("{:.1f}", 100 * *part / *whole) : render::kNotMeasured;
}

OverviewLine overview_line(const stats::WindowSummary& window) {
  OverviewLine line;
  line.name = window.name;
  line.outcome = stats::outcome_text(window);
  line.has_failed = window.outcomes.contains("failed");
  if (window.is_per_iteration) line.unit = window.kind == "benchmark" ? "iteration" : "call";
  line.wall_ns = render::median(window.wall_ns);
  line.work_ns = render::median(window.work_ns);
  line.wait_ns = render::median(window.wait_ns);
  line.calls = render::median(window.calls ? window.calls : window.entries);
  line.has_entries = !window.calls && window.entries;
  line.errors = render::median(window.errors);
  if (!window.syscalls.empty()) line.mostly = window.syscalls.front().name;
  return line;
}

render::Table tests_table(const std::vector<const OverviewLine*>& lines, bool is_wide,
                          const std::function<std::string(const std::string&)>& paint_failure) {
  using Line = const OverviewLine*;
  const bool has_outcomes = std::any_of(lines.begin(), lines.end(), [](Line line) { return !line->outcome.empty(); });
  const auto has_unit = [&](std::string_view unit) {
    return std::any_of(lines.begin(), lines.end(), [&](Line line) { return line->unit == unit; });
  };
  const auto has = [&](bool entries) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](Line line) { return line->calls && line->has_entries == entries; });
  };
  const bool has_calls = has_unit("call");
  const bool has_iterations = has_unit("iteration");
  const std::string wall = has_calls && has_iterations ? "wall a call/iteration"
                           : has_calls                 ? "wall a call"
                           : has_iterations            ? "wall an iteration"
                                                       : "wall";
  render::ColumnTable<Line> table({
      {{wall, Align::right}, [](Line line) { return duration(line->wall_ns); }},
      {{"kernel", Align::right}, [](Line line) { return duration(line->work_ns); }},
      {{"waits", Align::right}, [](Line line) { return line->wait_ns == 0.0 ? "" : duration(line->wait_ns); }},
      {{calls_title(has(false), has(true)), Align::right}, [](Line line) { return count(line->calls); }},
      {{"errors", Align::right}, [](Line line) { return errors(line->errors); }},
      {.head = {"mostly"}, .cell = [](Line line) { return line->mostly; }, .is_shown = is_wide},
      {.head = {"outcome"},
       .cell = [&](Line line) { return line->has_failed ? paint_failure(line->outcome) : line->outcome; },
       .is_shown = has_outcomes},
      {{has_calls || has_iterations ? "loop or benchmark" : "test", Align::left, Cells::names, Shrinks::in_the_middle},
       [](Line line) { return line->name; }},
  });
  for (const Line line : lines) table.add(line);
  return table.table();
}

render::Table totals_table(const std::vector<SyscallTotal>& lines, const std::optional<double>& whole_ns, bool waits) {
  const bool has_calls = std::any_of(lines.begin(), lines.end(), [](const auto& one) { return one.has_calls; });
  const bool has_entries = std::any_of(lines.begin(), lines.end(), [](const auto& one) { return one.has_entries; });
  render::ColumnTable<SyscallTotal> table({
      {{waits ? "% of waits" : "% of work", Align::right},
       [&](const SyscallTotal& one) { return share(one.kernel_ns, whole_ns); }},
      {{waits ? "blocked" : "kernel", Align::right}, [](const SyscallTotal& one) { return duration(one.kernel_ns); }},
      {{"each", Align::right}, each},
      {{calls_title(has_calls, has_entries), Align::right}, [](const SyscallTotal& one) { return count(one.calls); }},
      {{"errors", Align::right}, [](const SyscallTotal& one) { return errors(one.errors); }},
      {{waits ? "wait" : "syscall", Align::left, Cells::text, Shrinks::in_the_middle},
       [](const SyscallTotal& one) { return one.name; }},
      {{"errnos", Align::left, Cells::text, Shrinks::at_the_end}, errnos},
  });
  for (const SyscallTotal& line : lines) table.add(line);
  return table.table();
}

render::Table syscall_table(const stats::WindowSummary& window, bool waits) {
  const Numbers& whole = waits ? window.wait_ns : window.work_ns;
  render::ColumnTable<SyscallSummary> table({
      {{waits ? "% of waits" : "% of work", Align::right},
       [&](const SyscallSummary& one) { return render::percent(one.kernel_ns, whole); },
       render::percent(whole, whole)},
      {{"% of wall", Align::right},
       [&](const SyscallSummary& one) { return render::percent(one.kernel_ns, window.wall_ns); },
       render::percent(whole, window.wall_ns)},
      {{"seconds", Align::right}, [](const SyscallSummary& one) { return seconds(one.kernel_ns); }, seconds(whole)},
      {{"usecs/call", Align::right}, usecs_per_call},
      {{"calls", Align::right},
       [](const SyscallSummary& one) { return render::count(one.count()); },
       render::count(window.work_calls)},
      {{"per run", Align::right},
       [](const SyscallSummary& one) { return per_run_cell(one.per_run_calls); },
       per_run_cell(window.per_run_work_calls),
       stats::has_per_run_calls(window)},
      {{"calls/s", Align::right},
       [&](const SyscallSummary& one) { return rate_cell(one.count(), window.wall_ns); },
       rate_cell(window.work_calls, window.wall_ns)},
      {{"errors", Align::right}, errors_cell, render::count(window.work_errors)},
      {{waits ? "wait" : "syscall"}, name_cell, "total"},
      {{"errnos"}, errnos_cell},
  });
  for (const SyscallSummary& syscall : window.syscalls) {
    if (syscall.is_wait == waits) table.add(syscall);
  }
  if (!waits && !table.table().empty()) table.add_total();
  return table.table();
}

render::Table loop_table(const stats::WindowSummary& loop, bool waits) {
  const Numbers& whole = waits ? loop.wait_ns : loop.work_ns;
  render::ColumnTable<SyscallSummary> table({
      {{waits ? "% of waits" : "% of work", Align::right},
       [&](const SyscallSummary& one) { return render::percent(one.kernel_ns, whole); },
       render::percent(whole, whole)},
      {{waits ? "blocked a call" : "kernel a call", Align::right},
       [](const SyscallSummary& one) { return render::duration(one.kernel_ns); },
       render::duration(whole)},
      {{"each", Align::right}, each_cell},
      {{"calls a call", Align::right},
       [](const SyscallSummary& one) { return render::count(one.count()); },
       render::count(loop.work_calls)},
      {{"calls/s", Align::right},
       [&](const SyscallSummary& one) { return rate_cell(one.count(), loop.wall_ns); },
       rate_cell(loop.work_calls, loop.wall_ns)},
      {{"errors", Align::right}, errors_cell, render::count(loop.work_errors)},
      {{waits ? "wait" : "syscall"}, name_cell, "total"},
      {{"errnos"}, errnos_cell},
  });
  for (const SyscallSummary& syscall : loop.syscalls) {
    if (syscall.is_wait == waits) table.add(syscall);
  }
  const auto works = std::count_if(loop.syscalls.begin(), loop.syscalls.end(),
                                   [](const SyscallSummary& syscall) { return !syscall.is_wait; });
  if (!waits && works > 1) table.add_total();
  return table.table();
}

}  // namespace syscost::bench::commands
