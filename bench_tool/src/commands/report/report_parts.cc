// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "commands/compare/compare.h"
#include "commands/critical_path/critical_path.h"
#include "commands/groups/groups.h"
#include "commands/log/log.h"
#include "commands/report/report.h"
#include "commands/scale/scale.h"
#include "commands/shared/gate.h"
#include "commands/shared/site_text.h"
#include "csv/run_files.h"
#include "groups/behaviour.h"
#include "groups/groups.h"
#include "judge/history.h"
#include "model/loader.h"
#include "model/programs.h"
#include "render/numbers.h"
#include "scale/families.h"
#include "trace/critical_path.h"

namespace syscost::bench::commands {
namespace {

using judge::Verdict;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

report::ComparedTest compared_test(const CompareResult& result, const judge::Comparison& row) {
  report::ComparedTest test;
  const std::vector<std::string_view> failures = gate_failures(row, result.gate);
  test.name = row.name;
  test.verdict = std::string(judge::to_string(row.verdict));
  test.is_worse = !failures.empty() || row.verdict == Verdict::regressed;
  test.is_better = failures.empty() && row.verdict == Verdict::improved;
  test.calls = calls_cell(row, "");
  if (row.is_paired()) {
    const auto calls = [](const stats::WindowSummary& window) {
      return render::median(window.calls ? window.calls : window.entries);
    };
    const auto old_calls = calls(*row.old_window), new_calls = calls(*row.new_window);
    if (old_calls && new_calls) test.more_calls = *new_calls - *old_calls;
  }
  test.change = breakdown(row);
  if (!row.reason.empty()) test.causes.push_back(row.reason);
  if (row.time) test.time = time_cell(row, kWallTime, "");
  if (row.time && row.time->old_median && row.time->new_median && row.time->old_median->median > 0) {
    test.time_ratio = row.time->new_median->median / row.time->old_median->median;
  }
  for (const SiteLine& line : site_lines(row, kFewSiteLines)) test.causes.push_back(line.text());
  return test;
}

/// Names a test over runs and files.
std::string test_key(const model::Dataset& data, const model::Group& group) {
  return data.text(group.program) + '\t' + model::base_name(data, group);
}

std::vector<report::HistoryPoint> points_of(const model::Dataset& data, const std::deque<judge::HistoryRun>& runs,
                                            const std::string& run_id) {
  std::vector<report::HistoryPoint> points;
  for (const judge::HistoryRun& run : runs) {
    report::HistoryPoint point{
        name_of_run(data, *run.context), {}, {}, step_lines(run), data.text(run.run_id) == run_id};
    if (run.window) {
      point.calls = render::median(run.window->calls ? run.window->calls : run.window->entries);
      point.wall_ns = render::median(run.window->wall_ns);
    }
    points.push_back(std::move(point));
  }
  return points;
}

bool is_file_or_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) || std::filesystem::is_directory(path, ignored);
}

using Points = std::vector<std::pair<double, double>>;

/// One line; none if there is one point, which the law's text says as well.
std::vector<report::LawPlot::Line> one_line(Points points) {
  if (points.size() < 2) return {};
  std::sort(points.begin(), points.end());
  return {{"", std::move(points)}};
}

/// For two sizes, a line over the first one for each value of the second one.
void add_lines(const scale::Family& family, const scale::LawRow& row, report::LawPlot& plot) {
  std::map<std::int64_t, Points> by_second;
  for (std::size_t i = 0; i < row.counts.values.size(); ++i) {
    const scale::Size& size = row.counts.sizes[i];
    by_second[family.has_two ? size[1] : 0].emplace_back(static_cast<double>(size[0]), row.counts.values[i].value());
  }
  if (!family.has_two) {
    if (!by_second.empty()) plot.lines = one_line(std::move(by_second.begin()->second));
    return;
  }
  for (auto& [second, points] : by_second) {
    for (report::LawPlot::Line& line : one_line(std::move(points))) {
      line.name = fmt::format("{} = {}", family.names[1], second);
      plot.lines.push_back(std::move(line));
    }
  }
  if (plot.lines.empty()) {
    plot.reason = fmt::format("No plot: no two sizes {} have the same {}.", family.names[0], family.names[1]);
  }
}

}  // namespace

std::optional<report::Comparison> compared(const cli::Options& options, csv::Problems& problems, std::ostream& err) {
  cli::Options compare_options = options;
  compare_options.runs = options.page.compare;
  compare_options.run_ids.clear();
  CompareResult result;
  csv::Problems compare_problems;
  const bool is_compared = compare_both(compare_options, result, compare_problems, err);
  if (!is_compared) return std::nullopt;
  conclude(compare_options, result, compare_problems);
  problems.append_unnoted(compare_problems);
  report::Comparison comparison;
  comparison.conclusion = result.conclusion.text;
  comparison.is_red = result.conclusion.exit_code != cli::kExitOk;
  comparison.verdicts = verdict_line(result);
  for (const std::string& part : {law_lines(result), result.sides, result.count_rules, time_notes(result)}) {
    for (std::string& line : lines_of(part)) comparison.lines.push_back(std::move(line));
  }
  comparison.warnings = result.warnings;
  for (const judge::Comparison* row : chosen_rows(result, compare_options)) {
    comparison.tests.push_back(compared_test(result, *row));
  }
  return comparison;
}

void add_history(const cli::Options& options, report::Run& run, csv::Problems& problems) {
  // A pipe can be read once only, and was.
  if (!std::all_of(options.runs.begin(), options.runs.end(), is_file_or_folder)) return;
  csv::Run all{options.runs.front(), false, {}};
  csv::add_files(all, options.runs, options.folders, problems);
  model::LoadOptions load;
  load.all_runs = load.is_history = true;
  load.is_printable = true;
  load.tests = model::TestChoice(options.tests);
  csv::Problems noted_before;
  model::Dataset data = model::load(std::move(all), load, noted_before);
  problems.append_unnoted(noted_before);
  model::tell_programs_apart({&data}, model::names_told_apart(*run.data));
  std::set<model::NameId> runs;
  for (const model::Context& context : data.contexts) runs.insert(context.run_id);
  if (runs.size() < 2) return;
  std::map<std::string, report::Window*> windows;
  for (report::Window& window : run.windows) windows.emplace(test_key(*run.data, *window.group), &window);
  for (const model::Group& group : model::group_samples(data, model::Tools::left_out)) {
    const auto found = windows.find(test_key(data, group));
    if (found == windows.end()) continue;
    const model::Sample& sample = run.data->samples[found->second->group->samples.front()];
    found->second->history = points_of(data, judge::history_of(data, group, options.counts, options.threshold / 100),
                                       run.data->text(run.data->context(sample).run_id));
  }
}

std::vector<report::LawFamily> law_families(const model::Dataset& data, const std::vector<model::Group>& groups) {
  std::vector<report::LawFamily> families;
  for (const scale::Family& family : scale::families_of(data, groups, {.by_label = false, .has_times = true})) {
    if (!family.refusal.empty()) continue;  // most are tests that are numbered
    report::LawFamily shown{family.name, {}};
    for (const scale::LawRow& row : family.rows) {
      report::LawPlot plot{row.title(), law_cell(family, row), row.has_law(), false, {}, {}};
      add_lines(family, row, plot);
      shown.plots.push_back(std::move(plot));
    }
    for (const scale::TimeRow& row : family.times) {
      Points points;
      for (const scale::TimePoint& point : row.points) points.emplace_back(point.n, point.time_ns);
      shown.plots.push_back({std::string(row.title),
                             complexity_cell(family, row),
                             row.fit.has_value(),
                             true,
                             one_line(std::move(points)),
                             {}});
    }
    families.push_back(std::move(shown));
  }
  return families;
}

report::Kinds kinds_of(const report::Run& run) {
  groups::Behaviours behaviours;
  std::vector<const report::Window*> in_file_order;  // as `bench groups` has them: ties are broken by it
  for (const report::Window& window : run.windows) in_file_order.push_back(&window);
  std::sort(in_file_order.begin(), in_file_order.end(),
            [](const report::Window* a, const report::Window* b) { return a->group < b->group; });
  for (const report::Window* window : in_file_order) behaviours.add(window->summary);
  const groups::Grouping grouping = groups::group_tests(behaviours);
  report::Kinds kinds;
  if (grouping.tests == 0) return kinds;
  kinds.headline = groups_headline(grouping);
  for (const groups::Group& group : grouping.groups) {
    kinds.groups.push_back({group.name, group.share_of_calls, shown_calls(group.typical), group.windows});
  }
  for (const groups::Fixture& one : grouping.fixtures) {
    kinds.fixtures.push_back({one.name, one.share_of_calls,
                              fmt::format("{}: {}", render::count(one.common_calls), shown_calls(one.common)),
                              one.windows});
  }
  kinds.alone = grouping.alone;
  kinds.quiet = grouping.quiet.size();
  return kinds;
}

report::Path path_of(const std::string& name, const trace::SchedFile& file) {
  using Kind = trace::PathStep::Kind;
  const trace::CriticalPath path = trace::critical_path(file);
  report::Path shown;
  shown.times.test = name;
  shown.times.wall_ns = file.wall_ns;
  for (const trace::PathStep& step : path.steps) {
    (step.kind == Kind::runs      ? shown.times.runs_ns
     : step.kind == Kind::blocked ? shown.times.blocked_ns
     : step.kind == Kind::unknown ? shown.times.unknown_ns
                                  : shown.times.waits_for_cpu_ns) += step.took_ns();
  }
  for (const PathSum& sum : path_sums(path.steps)) {
    shown.parts.push_back({thread_text(file, sum.thread), sum.what, sum.ns, sum.steps});
  }
  shown.notes = path_notes(file, path);
  shown.picture = path_svg({name, file, path, {}});
  return shown;
}

}  // namespace syscost::bench::commands
