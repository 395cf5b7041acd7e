// SPDX-License-Identifier: MIT
#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "render/units.h"
#include "report/html.h"

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

}  // namespace syscost::bench::report
