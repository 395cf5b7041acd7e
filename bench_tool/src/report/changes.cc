// SPDX-License-Identifier: MIT
#include "report/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>

#include "render/numbers.h"
#include "report/page.h"
#include "stats/window_summary.h"

namespace syscost::bench::report {
namespace {

/// A page with more rows is slow, and no one reads them.
constexpr std::size_t kMostRows = 1000;

/// A cell that a table is sorted by: `number` is what its text is about.
std::string sorted_cell(const std::optional<double>& number, std::string_view is, const std::string& html) {
  const std::string key = number ? fmt::format(" data-n=\"{}\"", render::plain(*number)) : "";
  return fmt::format("<td data-is=\"{}\"{}>{}</td>", is, key, html);
}

std::string cell_of_causes(const ComparedTest& test) {
  std::string causes;
  for (const std::string& cause : test.causes) causes += fmt::format("<li>{}</li>", text(cause));
  return fmt::format("<td>{}</td>", causes.empty() ? "" : "<ul class=\"name\">" + causes + "</ul>");
}

std::string row_of_test(const Run& run, const ComparedTest& test, bool with_causes) {
  const char* const look = test.is_worse ? "bad" : test.is_better ? "good" : "quiet";
  return fmt::format("<tr><td>{}</td><td class=\"{}\">{}</td>", test_link(run, test.name), look, text(test.verdict)) +
         sorted_cell(test.more_calls, "Calls", text(test.calls)) + fmt::format("<td>{}</td>", text(test.change)) +
         sorted_cell(test.time_ratio, "Time", text(test.time)) + (with_causes ? cell_of_causes(test) : "") + "</tr>\n";
}

}  // namespace

std::string comparison_section(const Run& run, const Comparison& comparison) {
  std::string out = fmt::format("<p class=\"{}\">{}</p>\n<p>{}</p>\n", comparison.is_red ? "bad" : "good",
                                text(comparison.conclusion), text(comparison.verdicts));
  for (const std::string& line : comparison.lines) out += fmt::format("<p class=\"source\">{}</p>\n", text(line));
  for (const std::string& line : comparison.warnings)
    out += fmt::format("<p class=\"bad\">warning: {}</p>\n", text(line));
  if (comparison.tests.empty()) return out + "<p>No test changed.</p>\n";
  // A column without a single cause would only take room.
  const bool with_causes = std::any_of(comparison.tests.begin(), comparison.tests.end(),
                                       [](const ComparedTest& test) { return !test.causes.empty(); });
  out += fmt::format(
      "<div class=\"wide\"><table class=\"compared sortable "
      "stacked\">\n<thead><tr><th>Test</th><th>Verdict</th><th>Calls</th>"
      "<th>Change</th><th>Time</th>{}</tr></thead>\n<tbody>\n",
      with_causes ? "<th>Why</th>" : "");
  for (std::size_t i = 0; i < comparison.tests.size() && i < kMostRows; ++i)
    out += row_of_test(run, comparison.tests[i], with_causes);
  out += "</tbody></table></div>\n";
  if (comparison.tests.size() > kMostRows) {
    out += fmt::format("<p class=\"quiet\">and {} more tests that changed.</p>\n", comparison.tests.size() - kMostRows);
  }
  return out;
}

namespace {

constexpr double kChartWidth = 720;
constexpr double kChartHeight = 64;
constexpr double kChartBase = 58;
constexpr double kHighest = 42;
constexpr std::size_t kMostSteps = 200;

using Values = std::vector<std::optional<double>>;

/// Bars from 0 to the largest value, the first run at the left. The bar of the page's run is the dark one. A run with a
/// step has a mark above its bar.
std::string chart(const std::vector<HistoryPoint>& points, const Values& values, const char* title, bool is_time) {
  double most = 0;
  for (const auto& value : values) most = std::max(most, value.value_or(0));
  if (std::none_of(values.begin(), values.end(), [](const auto& value) { return value.has_value(); })) return {};
  const double step = std::min(24.0, kChartWidth / static_cast<double>(points.size()));
  std::string bars;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!values[i]) continue;
    const double height = most > 0 ? std::max(1.0, kHighest * *values[i] / most) : 1;
    const double x = step * static_cast<double>(i);
    const std::string shown = is_time ? time_text(values[i]) : count_text(values[i]);
    bars += fmt::format("<path{} d=\"M{:.1f} {}v-{:.1f}h{:.1f}v{:.1f}z\"><title>{}{}: {}</title></path>",
                        points[i].is_this ? " class=\"this\"" : "", x, kChartBase, height, std::max(step - 2, 1.0),
                        height, text(points[i].name), points[i].is_this ? " (this run)" : "", shown);
    if (!points[i].steps.empty()) {
      bars += fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.1f}l4 -6h-8z\"/>", x + std::max(step - 2, 1.0) / 2,
                          kChartBase - height - 3);
    }
  }
  std::optional<double> ours;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].is_this) ours = values[i];
  }
  return fmt::format(
      "<figure><figcaption>{}: {} in this run, at most {}</figcaption><svg class=\"history\" viewBox=\"0 0 {:.0f} "
      "{:.0f}\" role=\"img\" aria-label=\"{} over {} runs\"><path class=\"grid\" d=\"M0 "
      "{}h{:.0f}\"/>{}</svg></figure>\n",
      title, is_time ? time_text(ours) : count_text(ours), is_time ? time_text(most) : count_text(most), kChartWidth,
      kChartHeight, title, points.size(), kChartBase + 0.5, kChartWidth, bars);
}

std::string charts(const std::vector<HistoryPoint>& points) {
  Values calls, times;
  for (const HistoryPoint& point : points) {
    calls.push_back(point.calls);
    times.push_back(point.wall_ns);
  }
  return chart(points, calls, "Syscalls", false) + chart(points, times, "Wall time", true);
}

}  // namespace

std::string history_chart(const std::vector<HistoryPoint>& points) {
  if (points.size() < 2) return {};
  std::string out = fmt::format("<h3>History of {} runs</h3>\n", points.size()) + charts(points);
  std::string steps;
  for (const HistoryPoint& point : points) {
    for (const std::string& step : point.steps) {
      steps += fmt::format("<li><span class=\"quiet\">{}:</span> {}</li>\n", text(point.name), text(step));
    }
  }
  return out + (steps.empty() ? "<p class=\"quiet\">No step: nothing changed for good.</p>\n"
                              : "<ul class=\"notes\">" + steps + "</ul>\n");
}

std::string history_section(const Run& run) {
  std::vector<HistoryPoint> sums;
  std::string steps;
  std::size_t count = 0;
  std::map<std::string, std::size_t, std::less<>> places;
  const auto longest = std::max_element(run.windows.begin(), run.windows.end(), [](const Window& a, const Window& b) {
    return a.history.size() < b.history.size();
  });
  if (longest == run.windows.end() || longest->history.size() < 2) return {};
  for (const HistoryPoint& point : longest->history) {
    places.emplace(point.name, sums.size());
    sums.push_back({point.name, {}, {}, {}, point.is_this});
  }
  for (const Window& window : run.windows) {
    for (const HistoryPoint& point : window.history) {
      for (const std::string& step : point.steps) {
        if (++count > kMostSteps) continue;
        steps += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", test_link(run, window.summary.name),
                             text(point.name), text(step));
      }
      const auto place = places.find(point.name);
      if (place == places.end() || !stats::adds_up(window.summary)) continue;
      HistoryPoint& sum = sums[place->second];
      const auto add = [](std::optional<double>& to, const std::optional<double>& number) {
        if (number) to = to.value_or(0) + *number;
      };
      add(sum.calls, point.calls);
      add(sum.wall_ns, point.wall_ns);
    }
  }
  std::string out = fmt::format(
                        "<p class=\"quiet\">{} runs, the oldest at the left, this one dark; the sums of all tests that "
                        "have numbers in a run.</p>\n",
                        sums.size()) +
                    charts(sums);
  if (steps.empty()) return out + "<p class=\"quiet\">No test has a step: nothing changed for good.</p>\n";
  out +=
      "<h3>Steps</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>Test</th><th>From this run on</th><th>Change</th>"
      "</tr></thead>\n<tbody>\n" +
      steps + "</tbody></table></div>\n";
  if (count > kMostSteps)
    out += fmt::format("<p class=\"quiet\">and {} more steps; each test shows its own.</p>\n", count - kMostSteps);
  return out;
}

}  // namespace syscost::bench::report
