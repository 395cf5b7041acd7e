// SPDX-License-Identifier: MIT
//
// summary --stats-extended for people.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "commands/shared/run_notes.h"
#include "commands/shared/window_notes.h"
#include "commands/summary/summary.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using render::Align;
using render::Cells;

constexpr std::size_t kFewLines = 10;

/// `1.92..2.05 us`, `920 ns..1.05 us`.
std::string range_text(double low_ns, double high_ns) {
  std::string low = render::duration(low_ns);
  std::string high = render::duration(high_ns);
  if (low == high) return high;
  const std::size_t low_unit = low.find(' ');
  if (low_unit != std::string::npos && low.substr(low_unit) == high.substr(std::min(high.find(' '), high.size()))) {
    low.resize(low_unit);
  }
  return low + ".." + high;
}

/// The interval of a percentile; `n/a` if these calls are too few for one.
std::string percentile_cell(const stats::SyscallStatistics& one, double fraction) {
  const stats::Percentile percentile = stats::percentile_of(one.latency, fraction);
  if (!percentile.interval) return render::kNotMeasured;
  return range_text(percentile.interval->low, percentile.interval->high);
}

bool has_latencies(const stats::SyscallStatistics& one) {
  return one.is_timed && one.latency.count() > 0;
}

/// A figure of latencies. The largest `leaves_at` first gives way where the screen is too narrow; 0: none does.
struct FiguresColumn {
  const char* title;
  int leaves_at;
  std::string (*cell)(const stats::SyscallStatistics&);
};

constexpr std::array kFigures = {
    FiguresColumn{"mean", 1,
                  [](const stats::SyscallStatistics& one) {
                    return render::duration(static_cast<double>(one.latency.sum_ns()) /
                                            static_cast<double>(one.latency.count()));
                  }},
    FiguresColumn{"deviation", 3,
                  [](const stats::SyscallStatistics& one) {
                    const stats::Deviation deviation = stats::deviation_of(one.latency);
                    return range_text(deviation.low_ns, deviation.high_ns);
                  }},
    FiguresColumn{"median", 0,
                  [](const stats::SyscallStatistics& one) { return percentile_cell(one, kExtendedPercentiles[0]); }},
    FiguresColumn{"p90", 2,
                  [](const stats::SyscallStatistics& one) { return percentile_cell(one, kExtendedPercentiles[1]); }},
    FiguresColumn{"p99", 0,
                  [](const stats::SyscallStatistics& one) { return percentile_cell(one, kExtendedPercentiles[2]); }},
    FiguresColumn{"max", 0, [](const stats::SyscallStatistics& one) {
                    return render::duration(static_cast<double>(one.latency.max_ns()));
                  }}};
/// Columns with a larger `leaves_at` are left out.
constexpr int kNoneLeaves = 3;

render::Table latency_table(const ExtendedRun& run, int stays_at = kNoneLeaves) {
  std::vector<render::TableColumn> columns = {
      {"syscall", Align::left, Cells::names}, {"tests", Align::right}, {"calls", Align::right}};
  for (const FiguresColumn& column : kFigures) {
    if (column.leaves_at <= stays_at) columns.push_back({column.title, Align::right});
  }
  render::Table table(columns);
  for (const stats::SyscallStatistics& one : run.syscalls) {
    std::vector<std::string> cells = {one.name, fmt::format("{}", one.tests),
                                      one.calls ? fmt::format("{}", *one.calls) : render::kNotMeasured};
    for (const FiguresColumn& column : kFigures) {
      if (column.leaves_at <= stays_at) cells.push_back(has_latencies(one) ? column.cell(one) : render::kNotMeasured);
    }
    table.add_row(std::move(cells));
  }
  return table;
}

/// The table with the columns for which `width` (0: any) has room, and the names of the others.
std::string fitting_latencies(const ExtendedRun& run, std::size_t width) {
  int stays_at = kNoneLeaves;
  while (stays_at > 0 && width != 0 && latency_table(run, stays_at).width(1, 1) > width) --stays_at;
  std::string left_out;
  for (const FiguresColumn& column : kFigures) {
    if (column.leaves_at > stays_at) left_out += (left_out.empty() ? "" : ", ") + std::string(column.title);
  }
  std::string text = latency_table(run, stays_at).text(2, 2, width);
  if (!left_out.empty()) {
    text += render::wrapped(fmt::format("a wider screen (--width) also shows: {}\n", left_out), width, 2);
  }
  return text;
}

std::string value_text(const MeasureOutliers& measure, double value) {
  return measure.is_time() ? render::duration(value) : render::count(value);
}

/// At most `top` lines of each measure; 0: all. With `has_groups`, a column names the group.
render::Table outlier_table(const std::vector<MeasureOutliers>& measures, std::size_t top, bool has_groups) {
  std::vector<render::TableColumn> columns = {
      {"severity", Align::left}, {"z", Align::right},
      {"measure", Align::left},  {"value", Align::right},
      {"median", Align::right},  {"test", Align::left, Cells::names, render::Shrinks::in_the_middle}};
  if (has_groups) columns.push_back({"group", Align::left, Cells::text, render::Shrinks::at_the_end});
  render::Table table(columns);
  for (const MeasureOutliers& measure : measures) {
    std::size_t shown = 0;
    for (const stats::Outlier& one : measure.outliers.found) {
      if (top != 0 && shown++ == top) break;
      std::vector<std::string> cells = {std::string(to_string(one.severity)),
                                        fmt::format("{:.1f}", one.z),
                                        std::string(measure.title),
                                        value_text(measure, one.value),
                                        value_text(measure, measure.outliers.median),
                                        measure.tests[one.test].window};
      if (has_groups) cells.push_back(measure.group);
      table.add_row(std::move(cells));
    }
  }
  return table;
}

/// Measures without a table, and lines that were not shown.
std::string outlier_remarks(const ExtendedRun& run, std::size_t top) {
  std::string text;
  const auto is_once = [](const MeasureOutliers& measure) {
    return measure.is_time() && !measure.outliers.found.empty() &&
           std::all_of(measure.tests.begin(), measure.tests.end(),
                       [](const stats::MeasuredTest& test) { return test.values.size() == 1; });
  };
  if (std::any_of(run.measures.begin(), run.measures.end(), is_once)) {
    text += "times are of one repetition each: with more, a test that was slow once is not named\n";
  }
  for (const MeasureOutliers& measure : run.measures) {
    const stats::Outliers& outliers = measure.outliers;
    if (!outliers.reason.empty()) {
      text += fmt::format("{}: n/a, {}\n", measure.title, outliers.reason);
    } else if (outliers.found.empty()) {
      text += fmt::format("{}: none of {} tests\n", measure.title, outliers.tests);
    } else if (top != 0 && outliers.found.size() > top) {
      text += fmt::format("{}: {} more; --top 0 shows all\n", measure.title, outliers.found.size() - top);
    }
  }
  return text;
}

/// Syscalls that move together with the first one of a pair stand in one line.
render::Table correlation_table(const ExtendedRun& run, std::size_t top) {
  render::Table table({{"syscall", Align::left, Cells::names},
                       {"and", Align::left, Cells::names, render::Shrinks::at_the_end},
                       {"rho", Align::right},
                       {"p", Align::right}});
  std::map<std::size_t, std::string> sets;
  const auto are_together = [](const stats::Correlation& one) { return one.rho >= stats::kTogetherRho; };
  for (const stats::Correlation& one : run.correlations.found) {
    if (!are_together(one)) continue;
    std::string& others = sets[one.first];
    others += (others.empty() ? "" : ", ") + run.series[one.second].syscall;
  }
  std::size_t shown = 0;
  for (const stats::Correlation& one : run.correlations.found) {
    std::string others = run.series[one.second].syscall;
    if (are_together(one)) {
      others = std::exchange(sets[one.first], {});
      if (others.empty()) continue;
    }
    if (top != 0 && shown++ == top) break;
    table.add_row({run.series[one.first].syscall, others, fmt::format("{:.2f}", one.rho),
                   one.p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", one.p)});
  }
  return table;
}

/// Lines of correlation_table() without a limit.
std::size_t correlation_lines(const stats::Correlations& correlations) {
  std::set<std::size_t> sets;
  std::size_t lines = 0;
  for (const stats::Correlation& one : correlations.found) {
    lines += one.rho < stats::kTogetherRho || sets.insert(one.first).second ? 1 : 0;
  }
  return lines;
}

std::string correlation_remarks(const ExtendedRun& run, std::size_t top) {
  const stats::Correlations& correlations = run.correlations;
  if (!correlations.reason.empty()) return "n/a: " + correlations.reason + '\n';
  if (correlations.found.empty()) return fmt::format("none of {} pairs\n", correlations.pairs);
  std::string text;
  const std::size_t lines = correlation_lines(correlations);
  if (top != 0 && lines > top) text = fmt::format("{} more; --top 0 shows all\n", lines - top);
  if (correlations.repeated > 0) {
    text += fmt::format("left out: {} pair{} with a syscall that moves together with one above\n",
                        correlations.repeated, correlations.repeated == 1 ? "" : "s");
  }
  return text;
}

/// Remarks on groups that the table of groups does not show.
std::string group_remarks(const ExtendedRun& run, std::size_t top) {
  if (run.measures_of_groups.empty()) {
    return fmt::format("n/a: no group of {} tests or more; see `bench groups`\n", stats::kLeastTestsForOutliers);
  }
  std::string text;
  std::size_t hidden = 0;
  std::size_t found = 0;
  for (const MeasureOutliers& measure : run.measures_of_groups) {
    found += measure.outliers.found.size();
    if (top != 0) hidden += measure.outliers.found.size() - std::min(top, measure.outliers.found.size());
  }
  const std::size_t groups = run.measures_of_groups.size() / run.measures.size();
  if (found == 0) text = fmt::format("none in {} group{}\n", groups, groups == 1 ? "" : "s");
  if (hidden > 0) text += fmt::format("{} more; --top 0 shows all\n", hidden);
  if (run.small_groups > 0) {
    text += fmt::format("{} group{} of fewer than {} tests: n/a\n", run.small_groups, run.small_groups == 1 ? "" : "s",
                        stats::kLeastTestsForOutliers);
  }
  return text;
}

std::string latency_title(const ExtendedRun& run) {
  return fmt::format("Latencies over {} test{}; percentiles as intervals of {:.0f} %", run.tests,
                     run.tests == 1 ? "" : "s", 100 * stats::kPercentileLevel);
}

const char* const kOutlierTitle = "Tests that are far above the others (z above 3.5, of logarithms)";
const char* const kGroupTitle = "Tests that are far above those of their group, which make about the same calls";
const char* const kCorrelationTitle = "Syscalls that the same tests make more often (Spearman's rho, p of all pairs)";

}  // namespace

std::string extended_text(const ExtendedRun& run, const cli::Options& options, const render::Paint& paint) {
  const std::size_t width = options.screen.width;
  const std::size_t top = options.top.value_or(kFewLines);
  const auto title = [&](const std::string& text) {
    const std::string lines = render::wrapped(text + '\n', width, 2);
    return '\n' + paint.bold(lines.substr(0, lines.size() - 1)) + '\n';
  };
  std::string out = render::wrapped(run_line(run.data) + '\n', width, 2);
  if (run.lossy_tests != 0) {
    out += paint.yellow(render::wrapped("warning: " + lossy_tests_text(run.lossy_tests), width, 2)) + '\n';
  }
  out += title(latency_title(run)) + fitting_latencies(run, width);
  out += title(kOutlierTitle);
  if (const auto table = outlier_table(run.measures, top, false); !table.empty()) out += table.text(2, 2, width);
  out += render::wrapped(outlier_remarks(run, top), width, 2);
  out += title(kGroupTitle);
  render::Table of_groups = outlier_table(run.measures_of_groups, top, true);
  // The names of tests tell more than those of groups.
  if (width != 0 && of_groups.width(1, 1) > width) of_groups = outlier_table(run.measures_of_groups, top, false);
  if (!of_groups.empty()) out += of_groups.text(2, 2, width);
  out += render::wrapped(group_remarks(run, top), width, 2);
  out += title(kCorrelationTitle);
  if (const render::Table table = correlation_table(run, top); !table.empty()) out += table.text(2, 2, width);
  return out + render::wrapped(correlation_remarks(run, top), width, 2);
}

std::string extended_markdown(const ExtendedRun& run, const cli::Options& options) {
  const std::size_t top = options.top.value_or(kFewLines);
  const auto part = [](const std::string& title, const render::Table& table, const std::string& remarks) {
    std::string text = "\n### " + render::escaped_lines(title + '\n');
    if (!table.empty()) text += '\n' + table.markdown();
    if (!remarks.empty()) text += '\n';
    for (std::size_t begin = 0; begin < remarks.size();) {
      const std::size_t end = remarks.find('\n', begin) + 1;
      text += "- " + render::escaped_lines(remarks.substr(begin, end - begin));
      begin = end;
    }
    return text;
  };
  std::string out = render::escaped_lines(run_line(run.data) + '\n');
  if (run.lossy_tests != 0) out += render::escaped_lines("\nwarning: " + lossy_tests_text(run.lossy_tests) + '\n');
  out += part(latency_title(run), latency_table(run), "");
  out += part(kOutlierTitle, outlier_table(run.measures, top, false), outlier_remarks(run, top));
  out += part(kGroupTitle, outlier_table(run.measures_of_groups, top, true), group_remarks(run, top));
  return out + part(kCorrelationTitle, correlation_table(run, top), correlation_remarks(run, top));
}

}  // namespace syscost::bench::commands
