// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "commands/shared/chosen_tests.h"
#include "commands/shared/document.h"
#include "commands/shared/window_notes.h"
#include "commands/summary/summary.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "groups/behaviour.h"
#include "groups/groups.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "render/table.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

using model::Group;
using model::Measured;

bool is_counted_test(const model::Dataset& data, const Group& group) {
  return group.is_test(data) && data.text(group.origin) == schema::kOriginSyscost;
}

/// Calls, or trips into the kernel where the backend sees only those.
Measured calls_or_entries(const model::Totals& totals) {
  return totals.calls.has_value() ? totals.calls : totals.entries;
}

MeasureOutliers measure_of(const model::Dataset& data, const std::vector<Group>& groups, std::string_view title,
                           std::string_view name, Measured (*value)(const model::Totals&)) {
  MeasureOutliers measure{title, name, {}, {}, {}};
  for (const Group& group : groups) {
    if (!is_counted_test(data, group)) continue;
    stats::MeasuredTest test{model::display_name(data, group), {}};
    for (const std::uint32_t sample : group.samples) {
      const Measured one = value(data.samples[sample].totals);
      if (one.has_value()) test.values.push_back(static_cast<double>(*one));
    }
    // A repetition without the number may have ended early.
    if (test.values.size() == group.samples.size()) measure.tests.push_back(std::move(test));
  }
  measure.outliers = stats::outliers_of(measure.tests);
  return measure;
}

/// How often the tests make each syscall that tells what they do. Tests that make none of them would make all syscalls
/// go together.
std::vector<stats::CallSeries> series_of(const groups::Behaviours& behaviours) {
  std::vector<stats::CallSeries> series;
  std::vector<std::size_t> index(behaviours.syscalls.size());
  for (std::size_t i = 0; i < behaviours.syscalls.size(); ++i) {
    if (!behaviours.syscalls[i].tells) continue;
    index[i] = series.size();
    series.push_back({behaviours.syscalls[i].name, {}});
  }
  for (const groups::Behaviour& test : behaviours.tests) {
    const bool tells = std::any_of(test.counts.begin(), test.counts.end(), [&](const groups::Count& count) {
      return behaviours.syscalls[count.syscall].tells;
    });
    if (!tells) continue;
    for (stats::CallSeries& one : series) one.calls.push_back(0);
    for (const groups::Count& count : test.counts) {
      if (behaviours.syscalls[count.syscall].tells) series[index[count.syscall]].calls.back() = count.calls;
    }
  }
  return series;
}

/// A test that differs from those that it behaves like may be usual in the suite.
void measure_groups(ExtendedRun& run, const groups::Grouping& grouping) {
  for (const groups::Group& group : grouping.groups) {
    if (group.windows.size() == run.tests) continue;  // the suite
    if (group.windows.size() < stats::kLeastTestsForOutliers) {
      ++run.small_groups;
      continue;
    }
    const std::set<std::string_view> members(group.windows.begin(), group.windows.end());
    for (const MeasureOutliers& whole : run.measures) {
      MeasureOutliers part{whole.title, whole.name, {}, {}, group.name};
      std::copy_if(whole.tests.begin(), whole.tests.end(), std::back_inserter(part.tests),
                   [&](const stats::MeasuredTest& test) { return members.contains(test.window); });
      part.outliers = stats::outliers_of(part.tests);
      run.measures_of_groups.push_back(std::move(part));
    }
  }
}

void compute(ExtendedRun& run, const std::vector<Group>& groups, csv::Problems& problems) {
  run.syscalls = stats::syscall_statistics(run.data, groups, problems);
  run.measures.push_back(
      measure_of(run.data, groups, "wall time", "wall_ns", [](const model::Totals& totals) { return totals.wall_ns; }));
  run.measures.push_back(measure_of(run.data, groups, "time in the kernel", "kernel_ns",
                                    [](const model::Totals& totals) { return totals.kernel_ns; }));
  run.measures.push_back(measure_of(run.data, groups, "calls", "calls", calls_or_entries));
  groups::Behaviours behaviours;
  stats::for_each_summary(run.data, groups, false, [&](std::size_t index, stats::WindowSummary&& window) {
    behaviours.add(window);
    if (window.is_lower_bound() && is_counted_test(run.data, groups[index])) ++run.lossy_tests;
  });
  run.series = series_of(behaviours);
  run.correlations = stats::correlations_of(run.series);
  measure_groups(run, groups::group_tests(behaviours));
}

}  // namespace

int summary_extended(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  model::LoadOptions load = load_options_of(options);
  load.keep_histograms = true;
  if (!options.run_ids.empty()) load.run_id = options.run_ids.front();
  csv::Problems problems;
  std::vector<ExtendedRun> runs;
  for (const std::string& path : options.runs) {
    ExtendedRun run;
    run.data = model::load(path, load, problems);
    const std::vector<Group> groups = model::group_samples(run.data, model::Tools::left_out);
    run.tests = static_cast<std::size_t>(std::count_if(
        groups.begin(), groups.end(), [&](const Group& group) { return is_counted_test(run.data, group); }));
    if (groups.empty()) {
      note_no_test(run.data, load.tests, problems);
      continue;
    }
    if (run.tests == 0) {
      problems.print(err);
      err << "bench: " << csv::printable(run.data.name) << " has no tests; --stats-extended compares tests\n"
          << "`bench summary` without it shows benchmarks, loops and whole commands.\n";
      return cli::kExitBadInput;
    }
    compute(run, groups, problems);
    runs.push_back(std::move(run));
  }
  const auto all = [&](auto render) { return one_below_the_other(runs, render); };
  return print(
      {.json = [&] { return runs.empty() ? "" : extended_json(runs); },
       .csv =
           [&] {
             for (const ExtendedRun& run : runs) {
               if (run.lossy_tests != 0) problems.remark(run.data.name, lossy_tests_text(run.lossy_tests));
             }
             return runs.empty() ? "" : extended_csv(runs);
           },
       .markdown =
           [&] {
             const std::string text = all([&](const ExtendedRun& run) { return extended_markdown(run, options); });
             return text.empty() ? text : render::capped_markdown(text, most_bytes(options, kStepBytes));
           },
       .text = [&] { return all([&](const ExtendedRun& run) { return extended_text(run, options, paint); }); }},
      options, problems, out, err);
}

}  // namespace syscost::bench::commands
