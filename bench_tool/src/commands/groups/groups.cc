// SPDX-License-Identifier: MIT
#include "commands/groups/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include "commands/shared/chosen_tests.h"
#include "commands/shared/document.h"
#include "commands/shared/run_notes.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

int groups_run(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  model::LoadOptions load = load_options_of(options);
  csv::Problems problems;
  std::vector<GroupedRun> runs;
  for (const std::string& path : options.runs) {
    GroupedRun run{model::load(path, load, problems), {}};
    const std::vector<model::Group> windows = model::group_samples(run.data, model::Tools::left_out);
    if (windows.empty()) {
      note_no_test(run.data, load.tests, problems);
      continue;
    }
    groups::Behaviours behaviours;
    stats::for_each_summary(run.data, windows, false,
                            [&](std::size_t, stats::WindowSummary&& window) { behaviours.add(window); });
    run.grouping = groups::group_tests(behaviours);
    if (run.grouping.tests == 0 && run.grouping.left_out.empty()) {
      problems.print(err);
      err << "bench: " << csv::printable(run.data.name) << " has no tests; only tests are grouped\n"
          << "`bench summary` shows benchmarks, loops and whole commands.\n";
      return cli::kExitBadInput;
    }
    runs.push_back(std::move(run));
  }
  const auto all = [&](auto render) { return one_below_the_other(runs, render); };
  return print({.json = [&] { return runs.empty() ? "" : groups_json(runs); },
                .csv = [&] { return runs.empty() ? "" : groups_csv(runs); },
                .markdown =
                    [&] {
                      const std::string text =
                          all([&](const GroupedRun& run) { return groups_markdown(run, options); });
                      return text.empty() ? text : render::capped_markdown(text, most_bytes(options, kStepBytes));
                    },
                .text = [&] { return all([&](const GroupedRun& run) { return groups_text(run, options, paint); }); }},
               options, problems, out, err);
}

// groups for people: a line for each group, and one for each fixture.

namespace {

using groups::Fixture;
using groups::Grouping;
using render::Align;
using render::Cells;

constexpr std::size_t kShownCalls = 4;
constexpr std::size_t kNamesShown = 3;
constexpr std::size_t kFewFixtures = 10;

std::string share(double part) {
  return fmt::format("{:.1f}", 100 * part);
}

std::string tests_text(std::size_t tests) {
  return fmt::format("{} test{}", tests, tests == 1 ? "" : "s");
}

render::Table group_table(const Grouping& grouping) {
  render::Table table({{"tests", Align::right},
                       {"% of calls", Align::right},
                       {"group", Align::left, Cells::text, render::Shrinks::at_the_end},
                       {"calls of most tests", Align::left, Cells::text, render::Shrinks::at_the_end},
                       {"example", Align::left, Cells::names, render::Shrinks::in_the_middle}});
  for (const groups::Group& group : grouping.groups) {
    table.add_row({fmt::format("{}", group.windows.size()), share(group.share_of_calls), group.name,
                   shown_calls(group.typical), group.windows.front()});
  }
  return table;
}

render::Table fixture_table(const Grouping& grouping, bool has_all) {
  render::Table table({{"tests", Align::right},
                       {"% of calls", Align::right},
                       {"fixture", Align::left, Cells::names, render::Shrinks::in_the_middle},
                       {"calls that each of its tests makes", Align::left, Cells::text, render::Shrinks::at_the_end}});
  for (std::size_t i = 0; i < grouping.fixtures.size() && (has_all || i < kFewFixtures); ++i) {
    const Fixture& fixture = grouping.fixtures[i];
    table.add_row({fmt::format("{}", fixture.windows.size()), share(fixture.share_of_calls), fixture.name,
                   fmt::format("{}: {}", render::count(fixture.common_calls), shown_calls(fixture.common))});
  }
  return table;
}

/// For a screen on which the table does not fit: what is said of a group or fixture stands in a line of its own, so
/// that names stay whole.
render::Table narrow_group_table(const Grouping& grouping, std::size_t width) {
  constexpr std::size_t kColumnsBefore = 17;  // the two numbers, with gaps of one
  render::Table table({{"tests", Align::right},
                       {"% of calls", Align::right},
                       {"group, calls of most tests, example", Align::left, Cells::text, render::Shrinks::at_the_end}});
  for (const groups::Group& group : grouping.groups) {
    std::istringstream name(render::wrapped(group.name + '\n', width > kColumnsBefore ? width - kColumnsBefore : 0, 2));
    std::string line;
    std::getline(name, line);
    table.add_row({fmt::format("{}", group.windows.size()), share(group.share_of_calls), line});
    while (std::getline(name, line)) table.add_row({"", "", line});
    table.add_row({"", "", "  " + shown_calls(group.typical)});
    table.add_row({"", "", "  " + group.windows.front()});
  }
  return table;
}

render::Table narrow_fixture_table(const Grouping& grouping, bool has_all) {
  render::Table table(
      {{"tests", Align::right},
       {"% of calls", Align::right},
       {"fixture, calls that each of its tests makes", Align::left, Cells::names, render::Shrinks::in_the_middle}});
  for (std::size_t i = 0; i < grouping.fixtures.size() && (has_all || i < kFewFixtures); ++i) {
    const Fixture& fixture = grouping.fixtures[i];
    table.add_row({fmt::format("{}", fixture.windows.size()), share(fixture.share_of_calls), fixture.name});
    table.add_row({"", "", fmt::format("  {}: {}", render::count(fixture.common_calls), shown_calls(fixture.common))});
  }
  return table;
}

/// `wide` if it fits into `width` (0: any), else `narrow`.
std::string fitting(const render::Table& wide, const render::Table& narrow, std::size_t width) {
  if (wide.empty()) return {};
  return (width == 0 || wide.width(2, 2) <= width ? wide : narrow).text(2, 2, width);
}

/// `a, b, c and 4 more`; all of them with `has_all`.
std::string names_text(const std::vector<std::string>& names, bool has_all) {
  const std::size_t shown = has_all ? names.size() : std::min(names.size(), kNamesShown);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// The remarks below the groups, a line each.
std::string remarks(const Grouping& grouping, bool has_all) {
  std::string text;
  if (!grouping.alone.empty()) {
    text += fmt::format("{} like no other: {}\n",
                        grouping.alone.size() == 1 ? "1 test is" : tests_text(grouping.alone.size()) + " are",
                        names_text(grouping.alone, has_all));
  }
  if (!grouping.quiet.empty()) {
    const double part = grouping.calls > 0 ? grouping.quiet_calls / grouping.calls : 0;
    text += fmt::format("{} without calls besides memory, waits and calls that vary, {} % of calls: {}\n",
                        tests_text(grouping.quiet.size()), share(part), names_text(grouping.quiet, has_all));
  }
  for (std::size_t i = 0; i < grouping.left_out.size(); ++i) {
    if (!has_all && i == kNamesShown) {
      text += fmt::format("left out: {} more\n", grouping.left_out.size() - i);
      break;
    }
    text += fmt::format("left out: {}: {}\n", grouping.left_out[i].window, grouping.left_out[i].reason);
  }
  return text;
}

std::string fixtures_left(const Grouping& grouping, bool has_all) {
  if (has_all || grouping.fixtures.size() <= kFewFixtures) return {};
  return fmt::format("{} more; --all shows them\n", grouping.fixtures.size() - kFewFixtures);
}

const char* const kFixtures = "Fixtures, and how much of all tests' calls are the calls that their tests share:";

}  // namespace

std::string shown_calls(const std::vector<groups::Calls>& calls) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(calls.size(), kShownCalls); ++i) {
    shown.push_back(fmt::format("{} {}", render::count(calls[i].calls), calls[i].syscall));
  }
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (calls.size() > kShownCalls) text += fmt::format(" and {} more", calls.size() - kShownCalls);
  return text;
}

std::string groups_headline(const Grouping& grouping) {
  const std::size_t telling = grouping.tests - grouping.quiet.size();
  if (telling == 0) return "No test makes a call that tells what it does.";
  if (!grouping.reason.empty()) return fmt::format("1 group of {}: {}", tests_text(telling), grouping.reason);
  return fmt::format("{} group{} of {}: silhouette {:.2f}, by chance up to {:.2f}", grouping.groups.size(),
                     grouping.groups.size() == 1 ? "" : "s", tests_text(telling - grouping.alone.size()),
                     grouping.silhouette, grouping.silhouette_by_chance);
}

std::string groups_text(const GroupedRun& run, const cli::Options& options, const render::Paint& paint) {
  const Grouping& grouping = run.grouping;
  const std::size_t width = options.screen.width;
  std::string out = render::wrapped(run_line(run.data) + '\n', width, 2);
  out += '\n' + render::wrapped(groups_headline(grouping) + '\n', width, 2);
  out += fitting(group_table(grouping), narrow_group_table(grouping, width), width);
  out += render::wrapped(remarks(grouping, options.all), width, 2);
  if (options.all) {
    for (const groups::Group& group : grouping.groups) {
      out += '\n' + paint.bold(group.name) + '\n';
      for (const std::string& window : group.windows) out += "  " + window + '\n';
    }
  }
  if (const render::Table table = fixture_table(grouping, options.all); !table.empty()) {
    out += '\n' + render::wrapped(std::string(kFixtures) + '\n', width, 2) +
           fitting(table, narrow_fixture_table(grouping, options.all), width);
    out += fixtures_left(grouping, options.all);
  }
  return out;
}

std::string groups_markdown(const GroupedRun& run, const cli::Options& options) {
  const Grouping& grouping = run.grouping;
  std::string out = render::escaped_lines(run_line(run.data) + '\n');
  out += '\n' + render::escaped_lines(groups_headline(grouping) + '\n');
  if (const render::Table table = group_table(grouping); !table.empty()) out += '\n' + table.markdown();
  const std::string below = remarks(grouping, options.all);
  if (!below.empty()) out += '\n';
  for (std::size_t begin = 0; begin < below.size();) {
    const std::size_t end = below.find('\n', begin) + 1;
    out += "- " + render::escaped_lines(below.substr(begin, end - begin));
    begin = end;
  }
  if (options.all) {
    for (const groups::Group& group : grouping.groups) {
      out += "\n### " + render::escaped_lines(group.name + '\n') + '\n';
      for (const std::string& window : group.windows) out += "- " + render::code_span(window) + '\n';
    }
  }
  if (const render::Table table = fixture_table(grouping, options.all); !table.empty()) {
    out += '\n' + render::escaped_lines(std::string(kFixtures) + '\n') + '\n' + table.markdown();
    if (const std::string left = fixtures_left(grouping, options.all); !left.empty()) {
      out += '\n' + render::escaped_lines(left);
    }
  }
  return out;
}

}  // namespace syscost::bench::commands
