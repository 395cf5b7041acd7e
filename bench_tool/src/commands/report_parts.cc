// SPDX-License-Identifier: MIT
#include "commands/report_parts.h"

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

#include "commands/compare.h"
#include "commands/gate.h"
#include "commands/log.h"
#include "commands/scale.h"
#include "commands/site_text.h"
#include "csv/find_files.h"
#include "model/loader.h"
#include "render/csv_writer.h"
#include "scale/families.h"
#include "stats/history.h"

namespace syscost::bench::commands {
namespace {

using stats::Verdict;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

report::ComparedTest compared_test(const CompareResult& result, const stats::Comparison& row) {
  report::ComparedTest test;
  const std::vector<std::string_view> failures = gate_failures(row, result.gate);
  test.name = row.name;
  test.verdict = std::string(stats::to_string(row.verdict));
  test.is_worse = !failures.empty() || row.verdict == Verdict::regressed;
  test.is_better = failures.empty() && row.verdict == Verdict::improved;
  test.calls = calls_cell(row, "");
  test.change = breakdown(row);
  if (!row.reason.empty()) test.causes.push_back(row.reason);
  if (row.time) test.time = time_cell(row, kWallTime, "");
  for (const SiteLine& line : site_lines(row, kFewSiteLines)) test.causes.push_back(line.text());
  return test;
}

/// Names a test over runs and files.
std::string test_key(const model::Dataset& data, const model::Group& group) {
  return data.text(group.program) + '\t' + model::base_name(data, group);
}

std::vector<report::HistoryPoint> points_of(const model::Dataset& data, const std::deque<stats::HistoryRun>& runs) {
  std::vector<report::HistoryPoint> points;
  for (const stats::HistoryRun& run : runs) {
    report::HistoryPoint point{name_of_run(data, *run.context), {}, {}, step_lines(run)};
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

std::vector<std::pair<double, double>> sorted(std::vector<std::pair<double, double>> points) {
  std::sort(points.begin(), points.end());
  return points;
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
  for (const std::string& part : {law_lines(result), sides_text(result), time_notes(result)}) {
    for (std::string& line : lines_of(part)) comparison.lines.push_back(std::move(line));
  }
  comparison.warnings = result.warnings;
  for (const stats::Comparison* row : chosen_rows(result, compare_options)) {
    comparison.tests.push_back(compared_test(result, *row));
  }
  return comparison;
}

void add_history(const cli::Options& options, report::Run& run, csv::Problems& problems) {
  // A pipe can be read once only, and was.
  if (!std::all_of(options.runs.begin(), options.runs.end(), is_file_or_folder)) return;
  csv::Run all{options.runs.front(), false, {}};
  for (const std::string& path : options.runs) {
    csv::Run one = csv::find_files(path, options.folders, problems);
    for (csv::Input& input : one.files) all.files.push_back(std::move(input));
  }
  model::LoadOptions load;
  load.all_runs = load.is_history = true;
  load.is_printable = true;
  load.tests = model::TestChoice(options.tests);
  csv::Problems noted_before;
  model::Dataset data = model::load(std::move(all), load, noted_before);
  problems.append_unnoted(noted_before);
  std::set<model::NameId> runs;
  for (const model::Context& context : data.contexts) runs.insert(context.run_id);
  if (runs.size() < 2) return;
  std::map<std::string, report::Window*> windows;
  for (report::Window& window : run.windows) windows.emplace(test_key(*run.data, *window.group), &window);
  for (const model::Group& group : model::group_samples(data, model::Tools::left_out)) {
    const auto found = windows.find(test_key(data, group));
    if (found == windows.end()) continue;
    found->second->history = points_of(data, stats::history_of(data, group, options.counts, options.threshold / 100));
  }
}

std::vector<report::LawFamily> law_families(const model::Dataset& data, const std::vector<model::Group>& groups) {
  std::vector<report::LawFamily> families;
  for (const scale::Family& family : scale::families_of(data, groups, {.by_label = false, .has_times = true})) {
    if (!family.refusal.empty()) continue;  // most are tests that are numbered
    report::LawFamily shown{family.name, {}};
    for (const scale::LawRow& row : family.rows) {
      report::LawPlot plot{row.title(), law_cell(family, row), row.has_law(), false, {}};
      for (std::size_t i = 0; i < row.counts.values.size() && !family.has_two; ++i) {
        plot.points.emplace_back(static_cast<double>(row.counts.sizes[i][0]), row.counts.values[i].value());
      }
      plot.points = sorted(std::move(plot.points));
      shown.plots.push_back(std::move(plot));
    }
    for (const scale::TimeRow& row : family.times) {
      report::LawPlot plot{std::string(row.title), complexity_cell(family, row), row.fit.has_value(), true, {}};
      for (const scale::TimePoint& point : row.points) plot.points.emplace_back(point.n, point.time_ns);
      plot.points = sorted(std::move(plot.points));
      shown.plots.push_back(std::move(plot));
    }
    families.push_back(std::move(shown));
  }
  return families;
}

}  // namespace syscost::bench::commands
