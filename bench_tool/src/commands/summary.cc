// SPDX-License-Identifier: MIT
#include "commands/summary.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include "commands/chosen_tests.h"
#include "commands/crashed.h"
#include "commands/findings.h"
#include "commands/run_line.h"
#include "commands/summary_extended.h"
#include "commands/summary_overview.h"
#include "commands/where.h"
#include "csv/problems.h"
#include "findings/find.h"
#include "model/group.h"
#include "model/loader.h"
#include "render/size_cap.h"
#include "stats/window_stream.h"

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
  if (for_people && options.format == cli::Format::md) {
    // GitHub takes 1 MiB for the summary of a step.
    if (!text.empty()) out << render::capped_markdown(text, options.max_bytes == 0 ? 1'000'000 : options.max_bytes);
  } else if (for_people) {
    out << text;
  } else if (!runs.empty()) {
    out << (options.format == cli::Format::json ? summary_json(runs) : summary_csv(runs));
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
