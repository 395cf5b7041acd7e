// SPDX-License-Identifier: MIT
//
// The details of bench summary: each window's head, tables and findings.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "commands/shared/run_notes.h"
#include "commands/shared/summary_tables.h"
#include "commands/summary/summary.h"
#include "model/dataset.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

using stats::SyscallSummary;
using stats::WindowSummary;

/// Where the numbers come from: one line per program run that is shown.
std::vector<std::string> source_lines(const model::Dataset& data) {
  /// The programs of one run started at different times, except those that started in the same millisecond.
  struct Source {
    std::string line;
    std::set<std::string> starts;
    std::set<std::tuple<model::NameId, std::uint64_t, model::NameId>> programs;  // program, process id, start
  };
  std::vector<Source> sources;
  for (const model::Sample& sample : data.samples) {
    const model::Context& context = data.context(sample);
    std::string line = fmt::format("run {} of {}", data.text(context.run_id), data.files[context.file]);
    for (model::NameId part :
         {context.label, context.host, context.kernel_release, context.commit, context.build_type}) {
      if (part != model::kNoName) line += ", " + data.text(part);
    }
    if (context.backend != model::kNoName) line += ", backend " + data.text(context.backend);
    if (context.selection != model::kNoName) line += ", selection " + data.text(context.selection);
    if (context.filter != model::kNoName) line += ", filter " + data.text(context.filter);
    auto known =
        std::find_if(sources.begin(), sources.end(), [&](const Source& source) { return source.line == line; });
    if (known == sources.end()) known = sources.insert(sources.end(), {std::move(line), {}, {}});
    if (context.started_at == model::kNoName) continue;
    known->starts.insert(data.text(context.started_at));
    known->programs.emplace(context.program, sample.pid, context.started_at);
  }
  std::vector<std::string> lines;
  for (Source& source : sources) {
    if (source.programs.size() == 1) source.line += ", " + *source.starts.begin();
    if (source.programs.size() > 1 && source.starts.size() == 1) {
      source.line += fmt::format(", {} programs started at {}", source.programs.size(), *source.starts.begin());
    } else if (source.programs.size() > 1) {
      source.line += fmt::format(", {} programs started from {} to {}", source.programs.size(), *source.starts.begin(),
                                 *source.starts.rbegin());
    }
    lines.push_back(std::move(source.line));
  }
  return lines;
}

/// `excludes loop flush`.
std::string excludes_text(const WindowSummary& window) {
  return fmt::format("{}", fmt::join(window.excludes, "; "));
}

/// A test that consists of its loops only. Loops have blocks of their own.
bool is_only_loops(const WindowSummary& window) {
  return !window.excludes.empty() && window.syscalls.empty() && window.incomplete == 0 &&
         (window.calls || window.entries);
}

/// A figure of a GPU: it has a time and no syscalls.
bool is_time_alone(const WindowSummary& window) {
  return window.kind == schema::kKindGpuKernel;
}

/// What stands before figures of calls: they are of a part of them, if the run had a filter.
std::string counted_part(const WindowSummary& window) {
  stats::SeenFilters filters;
  filters.add(window);
  const std::string part = filters.part();
  return part.empty() ? "  " : "  " + part + ": ";
}

/// `Log.Write  passed  n=3  wall 131 us  kernel 118 us (90.1 % of wall)  waits 0 ns`
std::string head_line(const WindowSummary& window, const render::Paint& paint) {
  std::string line = paint.bold(window.name);
  for (const auto& [outcome, times] : window.outcomes) {
    const std::string text = window.outcomes.size() == 1 ? std::string(outcome) : fmt::format("{} x{}", outcome, times);
    line += "  " + (outcome == "failed" ? paint.red(text) : text);
  }
  if (window.n > 1) line += fmt::format("  n={}", window.n);
  if (is_only_loops(window)) {
    std::string loops = excludes_text(window);
    if (constexpr std::string_view kVerb = "excludes "; loops.starts_with(kVerb)) loops.erase(0, kVerb.size());
    return line + "  no syscalls outside " + loops;
  }
  line += "  wall " + render::duration(window.wall_ns);
  if (window.overhead_ns && window.wall_ns && window.overhead_ns->median > 0.01 * window.wall_ns->median) {
    line += fmt::format(" (about {} of it added by measuring)", render::duration(window.overhead_ns));
  }
  if (is_time_alone(window)) {
    if (window.is_per_iteration && window.iterations && window.iterations->max > 1) line += " each";
    return window.excludes.empty() ? line : line + "  " + excludes_text(window);
  }
  line += counted_part(window) + "kernel " + render::duration(window.work_ns);
  if (window.work_ns && window.wall_ns) {
    line += fmt::format(" ({} % of wall)", render::percent(window.work_ns, window.wall_ns));
  }
  line += "  waits " + render::duration(window.wait_ns);
  if (window.iterations) line += fmt::format("  iterations {}", render::count(window.iterations));
  if (!window.excludes.empty()) line += "  " + excludes_text(window);
  if (window.is_per_iteration && window.loop.empty()) {
    line +=
        fmt::format("  (all figures per iteration{})", stats::has_per_run_calls(window) ? " but per-run calls" : "");
  }
  return line;
}

/// `1024 write, 1 fsync a call`: the most frequent first.
std::string calls_per_call(const WindowSummary& loop) {
  if (loop.syscalls.empty()) return stats::no_calls_text(loop);
  std::vector<const SyscallSummary*> most;
  for (const SyscallSummary& syscall : loop.syscalls) most.push_back(&syscall);
  std::stable_sort(most.begin(), most.end(), [](const SyscallSummary* a, const SyscallSummary* b) {
    auto median = [](const SyscallSummary* one) { return one->count() ? one->count()->median : 0; };
    return median(a) > median(b);
  });
  constexpr std::size_t kNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(most.size(), kNamed); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", render::count(most[i]->count()), most[i]->name);
  }
  if (most.size() > kNamed) text += fmt::format(", and {} more", most.size() - kNamed);
  return text + " a call";
}

/// `131 us a call [128 us..140 us]`: median and range of the repetitions.
std::string wall_per_call(const WindowSummary& loop) {
  if (!loop.wall_ns) return render::kNotMeasured;
  std::string text = render::duration(loop.wall_ns) + " a call";
  if (loop.n < 2) return text;
  return text + fmt::format(" [{}..{}]", render::duration(loop.wall_ns->min), render::duration(loop.wall_ns->max));
}

/// `loop flush  1024 write a call  wall 131 us a call [128 us..140 us]  kernel 92.0 us a call  n=10 of 312 calls`.
std::string loop_head_line(const WindowSummary& loop, const std::string& name, const render::Paint& paint) {
  std::string line = paint.bold(name) + "  " + calls_per_call(loop) + "  wall " + wall_per_call(loop);
  if (loop.work_ns) line += "  kernel " + render::duration(loop.work_ns) + " a call";
  if (loop.wait_ns && loop.wait_ns->max > 0) line += "  waits " + render::duration(loop.wait_ns) + " a call";
  return line + fmt::format("  n={} of {}", loop.n, render::calls(loop.iterations));
}

/// `  12 write, 1 ioctl`: of what lies between tests, which is no test and has no times. For a program of one thread
/// the sum alone is known.
std::string counts_between(const WindowSummary& window) {
  const std::optional<stats::Spread>& sum = window.calls ? window.calls : window.entries;
  if (window.syscalls.empty()) return sum ? fmt::format("  {} syscalls", sum->median) : "";
  std::string text;
  for (const stats::SyscallSummary& one : window.syscalls) {
    if (!one.count() || one.count()->max == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "  " : ", ", one.count()->median, one.name);
  }
  return text;
}

void append_indented(std::string& out, std::string_view indent, const std::string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    out.append(indent).append(text, begin, end - begin);
    begin = end;
  }
}

/// A window's block; a loop's stands under its test.
void append_window(std::string& out, const SummarizedRun& run, const WindowSummary& window, std::size_t width,
                   const render::Paint& paint) {
  const bool is_loop = !window.loop.empty();
  const std::string indent = window.follows_owner ? "    " : "  ";
  const std::size_t table_width = width == 0 ? 0 : width - indent.size();
  if (!window.follows_owner) out += '\n';
  if (window.kind == schema::kKindBetween) {
    out += render::wrapped(paint.bold(window.name) + counts_between(window), width, 4) + '\n';
    return;
  }
  if (is_loop) {
    const std::string name = window.follows_owner ? "  " + paint.bold("loop " + std::string(window.loop)) : window.name;
    const std::string head = loop_head_line(window, name, window.follows_owner ? render::Paint(false) : paint);
    out += render::wrapped(head, width, 4) + '\n';
  } else {
    out += render::wrapped(head_line(window, paint), width, 4) + '\n';
    if (window.syscalls.empty() && !is_only_loops(window) && !is_time_alone(window))
      out += indent + stats::no_calls_text(window) + '\n';
  }
  for (const bool waits : {false, true}) {
    const render::Table table = is_loop ? loop_table(window, waits) : syscall_table(window, waits);
    if (!table.empty()) append_indented(out, indent, table.text(2, 2, table_width));
  }
  for (const std::string& remark : remarks(run, window)) {
    const std::string text = remark.starts_with("warning") ? paint.yellow(remark) : remark;
    out += render::wrapped(indent + "- " + text, width, 2) + '\n';
  }
}

}  // namespace

std::string summary_text(const std::vector<SummarizedRun>& runs, std::size_t width, const render::Paint& paint) {
  std::string out;
  for (const SummarizedRun& run : runs) {
    for (const std::string& line : source_lines(run.data)) out += paint.dim(render::wrapped(line, width, 2)) + '\n';
    for (const std::string& line : crash_lines(run.data)) out += paint.red(render::wrapped(line, width, 2)) + '\n';
    for (const WindowSummary& window : run.windows) append_window(out, run, window, width, paint);
    out += '\n';
  }
  if (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string summary_markdown(const std::vector<SummarizedRun>& runs) {
  const render::Paint plain(false);
  std::string out;
  for (const SummarizedRun& run : runs) {
    for (const std::string& line : source_lines(run.data)) out += render::escaped_markdown(line) + "\n\n";
    for (const std::string& line : crash_lines(run.data)) out += render::escaped_markdown(line) + "\n\n";
    for (const WindowSummary& window : run.windows) {
      if (window.kind == schema::kKindBetween) {
        out += fmt::format("**{}**{}\n\n", render::code_span(window.name),
                           render::escaped_markdown(counts_between(window)));
        continue;
      }
      const bool is_loop = !window.loop.empty();
      const std::string head = is_loop ? loop_head_line(window, window.name, plain) : head_line(window, plain);
      out += fmt::format("**{}**{}\n\n", render::code_span(window.name),
                         render::escaped_markdown(head.substr(window.name.size())));
      if (window.syscalls.empty() && !is_loop && !is_only_loops(window) && !is_time_alone(window))
        out += stats::no_calls_text(window) + "\n\n";
      for (const bool waits : {false, true}) {
        const render::Table table = is_loop ? loop_table(window, waits) : syscall_table(window, waits);
        if (!table.empty()) out += table.markdown() + '\n';
      }
      for (const std::string& remark : remarks(run, window)) out += "- " + render::escaped_markdown(remark) + '\n';
      if (!out.ends_with("\n\n")) out += '\n';
    }
  }
  return out;
}

}  // namespace syscost::bench::commands
