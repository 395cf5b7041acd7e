// SPDX-License-Identifier: MIT
#include "commands/summary.h"

#include <fmt/format.h>

#include <ostream>
#include <set>

#include "csv/problems.h"
#include "model/group.h"
#include "model/loader.h"
#include "render/table.h"
#include "render/units.h"

namespace syscost::bench::commands {
namespace {

using render::Align;
using stats::Numbers;
using stats::SyscallSummary;
using stats::WindowSummary;

/// Where the numbers come from: one line per program run that is shown.
std::vector<std::string> source_lines(const model::Dataset& data) {
  std::vector<std::string> lines;
  std::set<std::string> seen;
  for (const model::Sample& sample : data.samples) {
    const model::Context& context = data.context(sample);
    std::string line = fmt::format("run {} of {}", data.text(context.run_id), data.files[context.file]);
    for (model::NameId part :
         {context.label, context.started_at, context.host, context.kernel, context.commit, context.build_type}) {
      if (part != model::kNoName) line += ", " + data.text(part);
    }
    if (context.backend != model::kNoName) line += ", backend " + data.text(context.backend);
    if (context.selection != model::kNoName) line += ", selection " + data.text(context.selection);
    if (context.filter != model::kNoName) line += ", filter " + data.text(context.filter);
    if (seen.insert(line).second) lines.push_back(std::move(line));
  }
  return lines;
}

/// `Log.Write  passed  n=3  wall 131 us  kernel 118 us (90.1 % of wall)  waits 0 ns`
std::string head_line(const WindowSummary& window, const render::Paint& paint) {
  std::string line = paint.bold(window.name);
  for (const auto& [outcome, times] : window.outcomes) {
    const std::string text = window.outcomes.size() == 1 ? std::string(outcome) : fmt::format("{} x{}", outcome, times);
    line += "  " + (outcome == "failed" ? paint.red(text) : text);
  }
  if (window.n > 1) line += fmt::format("  n={}", window.n);
  line += "  wall " + render::duration(window.wall_ns);
  if (window.overhead_ns && window.wall_ns && window.overhead_ns->median > 0.01 * window.wall_ns->median) {
    line += fmt::format(" (about {} of it added by measuring)", render::duration(window.overhead_ns));
  }
  line += "  kernel " + render::duration(window.work_ns);
  if (window.work_ns && window.wall_ns) {
    line += fmt::format(" ({} % of wall)", render::percent(window.work_ns, window.wall_ns));
  }
  line += "  waits " + render::duration(window.wait_ns);
  if (window.iterations) line += fmt::format("  iterations {}", render::count(window.iterations));
  return line;
}

std::string fixed(const Numbers& numbers, double scale, int digits) {
  return numbers ? fmt::format("{:.{}f}", numbers->median * scale, digits) : render::kNotMeasured;
}

/// Microseconds per call that returned.
std::string usecs_per_call(const SyscallSummary& syscall) {
  if (!syscall.kernel_ns || !syscall.latency_count) return render::kNotMeasured;
  if (syscall.latency_count->median <= 0) return "";
  return fmt::format("{:.3f}", syscall.kernel_ns->median / syscall.latency_count->median / 1e3);
}

/// `2 (2 ENOENT)`; blank for none, as strace prints it.
std::string errors_cell(const SyscallSummary& syscall) {
  if (!syscall.errors) return render::kNotMeasured;
  if (syscall.errors->max == 0) return "";
  return render::count(syscall.errors);
}

std::string errnos_cell(const SyscallSummary& syscall) {
  std::string text;
  for (const auto& [name, spread] : syscall.errnos) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", render::count(std::optional(spread)), name);
  }
  return text;
}

std::string rate_cell(const Numbers& calls, const Numbers& wall_ns) {
  if (!calls || !wall_ns || wall_ns->median <= 0) return render::kNotMeasured;
  const double rate = calls->median * 1e9 / wall_ns->median;
  return rate >= 100 ? fmt::format("{:.0f}", rate) : fmt::format("{:.3g}", rate);
}

/// The table of a window's working or waiting syscalls. `seconds` of waits are time blocked.
render::Table syscall_table(const WindowSummary& window, bool waits) {
  const Numbers& whole = waits ? window.wait_ns : window.work_ns;
  render::Table table({{waits ? "% of waits" : "% of work", Align::right},
                       {"% of wall", Align::right},
                       {"seconds", Align::right},
                       {"usecs/call", Align::right},
                       {"calls", Align::right},
                       {"calls/s", Align::right},
                       {"errors", Align::right},
                       {waits ? "wait" : "syscall", Align::left},
                       {"errnos", Align::left}});
  for (const SyscallSummary& syscall : window.syscalls) {
    if (syscall.is_wait != waits) continue;
    std::string name = syscall.name;
    if (!syscall.calls && syscall.entries) name += " (entries)";
    table.add_row({render::percent(syscall.kernel_ns, whole), render::percent(syscall.kernel_ns, window.wall_ns),
                   fixed(syscall.kernel_ns, 1e-9, 6), usecs_per_call(syscall), render::count(syscall.count()),
                   rate_cell(syscall.count(), window.wall_ns), errors_cell(syscall), std::move(name),
                   errnos_cell(syscall)});
  }
  if (!waits && !table.empty()) {
    table.add_row({whole && whole->median > 0 ? "100.0" : render::kNotMeasured, render::percent(whole, window.wall_ns),
                   fixed(whole, 1e-9, 6), "", render::count(window.work_calls),
                   rate_cell(window.work_calls, window.wall_ns), render::count(window.work_errors), "total", ""});
  }
  return table;
}

/// What an empty table means: that nothing was called is a result, that nothing could be read is not.
std::string no_rows_line(const WindowSummary& window) {
  if (window.incomplete > 0) return "its rows are missing";
  return window.calls || window.entries ? "no syscalls" : "syscalls were not counted";
}

void append_indented(std::string& out, const std::string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin) + 1;
    out += "  ";
    out.append(text, begin, end - begin);
    begin = end;
  }
}

std::string summary_text(const std::vector<SummarizedRun>& runs, const render::Paint& paint) {
  std::string out;
  for (const SummarizedRun& run : runs) {
    for (const std::string& line : source_lines(run.data)) out += paint.dim(line) + '\n';
    for (const WindowSummary& window : run.windows) {
      out += '\n' + head_line(window, paint) + '\n';
      if (window.syscalls.empty()) out += "  " + no_rows_line(window) + '\n';
      for (bool waits : {false, true}) {
        const render::Table table = syscall_table(window, waits);
        if (!table.empty()) append_indented(out, table.text());
      }
      for (const std::string& finding : findings(window)) {
        out += "  - " + (finding.starts_with("warning") ? paint.yellow(finding) : finding) + '\n';
      }
    }
    out += '\n';
  }
  if (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string summary_markdown(const std::vector<SummarizedRun>& runs) {
  const render::Paint plain(false);
  std::string out;
  for (const SummarizedRun& run : runs) {
    for (const std::string& line : source_lines(run.data)) out += line + "\n\n";
    for (const WindowSummary& window : run.windows) {
      out += "**" + window.name + "**" + head_line(window, plain).substr(window.name.size()) + "\n\n";
      if (window.syscalls.empty()) out += no_rows_line(window) + "\n\n";
      for (bool waits : {false, true}) {
        const render::Table table = syscall_table(window, waits);
        if (!table.empty()) out += table.markdown() + '\n';
      }
      for (const std::string& finding : findings(window)) out += "- " + finding + '\n';
      if (!out.ends_with("\n\n")) out += '\n';
    }
  }
  return out;
}

std::string render_as(cli::Format format, const std::vector<SummarizedRun>& runs, const render::Paint& paint) {
  switch (format) {
    case cli::Format::md:
      return summary_markdown(runs);
    case cli::Format::csv:
      return summary_csv(runs);
    case cli::Format::json:
      return summary_json(runs);
    case cli::Format::text:
      break;
  }
  return summary_text(runs, paint);
}

}  // namespace

int summary(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  model::LoadOptions load_options;
  load_options.all_runs = options.all_runs;
  load_options.for_people = options.for_people();
  if (!options.run_ids.empty()) load_options.run_id = options.run_ids.front();
  std::vector<SummarizedRun> runs;
  std::size_t shown = 0;
  for (const std::string& path : options.runs) {
    SummarizedRun& run = runs.emplace_back();
    run.data = model::load(path, load_options, problems);
    run.windows = stats::summarize_all(run.data, model::group_samples(run.data), false);
    shown += run.windows.size();
  }
  if (shown != 0) out << render_as(options.format, runs, paint);
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
