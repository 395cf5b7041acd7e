// SPDX-License-Identifier: MIT
#include "commands/summary/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/findings/findings.h"
#include "commands/shared/chosen_tests.h"
#include "commands/shared/document.h"
#include "commands/shared/run_notes.h"
#include "commands/shared/summary_overview.h"
#include "commands/shared/window_notes.h"
#include "commands/where/where.h"
#include "csv/problems.h"
#include "findings/find.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "render/table.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {
namespace {

using model::Group;
using stats::WindowSummary;

/// True if there is only one test. Then everything about it fits on a screen.
bool is_one_test(const model::Dataset& data, const std::vector<Group>& groups) {
  const auto stands_alone = [&](const Group& group) {
    const std::string& kind = data.text(group.kind);
    return kind == "test" || kind == "benchmark" || (kind == "loop" && !group.owner);
  };
  return std::count_if(groups.begin(), groups.end(), stands_alone) <= 1;
}

void summarize_into(SummarizedRun& run, const std::vector<Group>& groups) {
  run.windows = stats::summarize_all(run.data, groups, false);
  findings::Finder finder(run.data, groups, {.ignored = {}, .has_scopes = true});
  for (std::size_t i = 0; i < groups.size(); ++i) finder.add(i, run.windows[i]);
  for (const findings::Finding& one : finder.take().found) {
    run.findings[one.window].push_back(std::string(one.rule) + ": " + one.evidence +
                                       (one.site.empty() ? "" : ", at " + one.site));
  }
}

}  // namespace

int summary(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  if (options.has_where) return summary_where(options, paint, out, err);
  if (options.has_extended) return summary_extended(options, paint, out, err);
  csv::Problems problems;
  model::LoadOptions load_options = load_options_of(options);
  load_options.keep_sites = true;  // findings name lines
  load_options.keep_between = options.for_people() && options.has_details;
  const bool for_people = options.for_people();
  std::vector<SummarizedRun> runs;
  std::string text;
  for (const std::string& path : options.runs) {
    SummarizedRun run;
    run.data = model::load(path, load_options, problems);
    std::vector<Group> groups = model::group_samples(run.data);
    if (groups.empty()) {
      note_no_test(run.data, load_options.tests, problems);
      continue;
    }
    if (for_people && !options.has_details && !is_one_test(run.data, groups)) {
      Overview overview;
      findings::Finder finder(run.data, groups);
      stats::for_each_summary(run.data, groups, false, [&](std::size_t i, WindowSummary&& window) {
        finder.add(i, window);
        overview.add(window);
      });
      const findings::Findings found = finder.take();
      const std::string source = run_line(run.data);
      const std::vector<std::string> crashes = crash_lines(run.data);
      groups.clear();
      groups.shrink_to_fit();
      run.data = model::Dataset();  // as large as the lines of all tests, which follow
      text += (text.empty() ? "" : "\n") +
              overview.text(source, crashes, options, options.format == cli::Format::md, paint);
      text += options.format == cli::Format::md ? findings_below_markdown(found)
                                                : findings_below(found, paint, options.screen.width);
      continue;
    }
    // Output for machines is not sorted, unless --sort asks for it.
    const std::string key = !options.sort.empty() ? options.sort : for_people ? "worst" : "file";
    if (key != "file" || options.top.value_or(0) != 0) {
      groups = ordered_groups(run.data, groups, key, options.top.value_or(0));
    }
    summarize_into(run, groups);
    if (for_people) {
      if (!text.empty()) text += '\n';
      std::vector<SummarizedRun> one;
      one.push_back(std::move(run));
      text +=
          options.format == cli::Format::md ? summary_markdown(one) : summary_text(one, options.screen.width, paint);
      continue;
    }
    runs.push_back(std::move(run));
  }
  return print(
      {.json = [&] { return runs.empty() ? "" : summary_json(runs); },
       .csv = [&] { return runs.empty() ? "" : summary_csv(runs); },
       .markdown = [&] { return text.empty() ? text : render::capped_markdown(text, most_bytes(options, kStepBytes)); },
       .text = [&] { return text; }},
      options, problems, out, err);
}

namespace {

/// These calls never return, by design.
bool may_not_return(std::string_view syscall) {
  static constexpr std::array<std::string_view, 4> kCalls = {"exit", "exit_group", "execve", "execveat"};
  return std::find(kCalls.begin(), kCalls.end(), syscall) != kCalls.end();
}

void add_syscall_remarks(const stats::SyscallSummary& syscall, std::vector<std::string>& out) {
  if (syscall.denied.value_or(0) > 0) {
    out.push_back(
        fmt::format("denied: {} {} stopped by a seccomp filter, not in the counts", *syscall.denied, syscall.name));
  }
  if (syscall.restarts.value_or(0) > 0) {
    out.push_back(
        fmt::format("restarts: {} {} interrupted and started again by the kernel", *syscall.restarts, syscall.name));
  }
  if (syscall.in_flight.value_or(0) > 0) {
    out.push_back(
        fmt::format("in flight: {} {} had not returned when the window ended", *syscall.in_flight, syscall.name));
  }
  if (syscall.no_return.value_or(0) > 0 && !may_not_return(syscall.name)) {
    out.push_back(fmt::format("no return: {} {} did not return, because the thread ended or was killed",
                              *syscall.no_return, syscall.name));
  }
  if (syscall.carried_in.value_or(0) > 0) {
    out.push_back(fmt::format("carried in: {} {} began before the window and returned in it, not in the counts",
                              *syscall.carried_in, syscall.name));
  }
}

}  // namespace

std::vector<std::string> remarks(const SummarizedRun& run, const stats::WindowSummary& window) {
  std::vector<std::string> out = loss_warnings(window);
  // A tool observes a window of ours, and that window has the remarks.
  if (!window.is_ours()) return out;
  if (const auto found = run.findings.find(window.name); found != run.findings.end()) {
    out.insert(out.end(), found->second.begin(), found->second.end());
  }
  if (stats::has_altered(window)) out.push_back(injected_line(*window.altered) + " (docs/faults.md)");
  for (const stats::SyscallSummary& syscall : window.syscalls) add_syscall_remarks(syscall, out);
  std::vector<MovedBytes> moved;
  for (const stats::SyscallSummary& one : window.syscalls)
    moved.push_back({one.name, one.bytes ? one.bytes->median : 0});
  if (const std::string kinds = bytes_by_kind(moved); !kinds.empty()) out.push_back("bytes by kind of file: " + kinds);
  if (std::string left = left_remark(window); !left.empty()) out.push_back(std::move(left));
  return out;
}

}  // namespace syscost::bench::commands
