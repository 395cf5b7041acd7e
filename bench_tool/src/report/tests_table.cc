// SPDX-License-Identifier: MIT
#include "report/tests_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "render/csv_writer.h"
#include "render/units.h"
#include "report/html.h"

namespace syscost::bench::report {
namespace {

/// Closing tags of cells and rows may be left out in HTML; five thousand tests have forty thousand of them.
std::string cell(const std::optional<double>& number, const std::string& shown) {
  return number ? fmt::format("<td data-n=\"{}\">{}", render::plain(*number), shown) : "<td>" + shown;
}

/// `fsync, write, openat`: the syscalls that take most of the kernel time.
std::string mostly(const stats::WindowSummary& window) {
  constexpr std::size_t kNamed = 4;
  std::string out;
  for (std::size_t i = 0; i < window.syscalls.size() && i < kNamed; ++i) {
    out += (i == 0 ? "" : ", ") + window.syscalls[i].name;
  }
  if (window.syscalls.size() > kNamed) out += fmt::format(", {} more", window.syscalls.size() - kNamed);
  return out;
}

bool has_counts(const stats::WindowSummary& window) {
  return window.calls || window.entries || window.work_ns || window.wait_ns || window.errors;
}

/// `only_time`: no window of the table has counts, so it has no columns for them.
std::string row(const Window& window, std::size_t index, const std::string& place, bool only_time) {
  const stats::WindowSummary& summary = window.summary;
  const std::string outcome = stats::outcome_text(summary);
  const bool is_bad = summary.outcomes.contains("failed");
  const auto wall = render::median(summary.wall_ns);
  const auto work = render::median(summary.work_ns);
  const auto wait = render::median(summary.wait_ns);
  const auto calls = render::median(summary.calls ? summary.calls : summary.entries);
  const auto errors = render::median(summary.errors);
  const std::string begin =
      fmt::format(
          "<tr id=\"t{0}\" data-card=\"{1}\"><td><a href=\"#{2}{0}\">{3}</a>{4}", index, place,
          index < kStaticCards ? 'c' : 't', text(summary.name),
          outcome.empty() ? "" : fmt::format(" <b class=\"{}\">{}</b>", is_bad ? "bad" : "quiet", text(outcome))) +
      cell(wall, time_text(wall));
  if (only_time) return begin + '\n';
  return begin + cell(work, time_text(work)) + cell(wait, time_text(wait)) + cell(calls, count_text(calls)) +
         cell(errors, errors && *errors == 0 ? "" : count_text(errors)) + "<td>" + text(mostly(summary)) + '\n';
}

}  // namespace

std::string test_link(const Run& run, std::string_view name) {
  const auto place = run.places.find(name);
  if (place == run.places.end()) return fmt::format("<span class=\"name\">{}</span>", text(name));
  return fmt::format("<a class=\"name\" href=\"#t{}\">{}</a>", place->second, text(name));
}

std::string slowest_test(const Run& run) {
  const Window* slowest = nullptr;
  double longest = 0;
  std::size_t timed = 0;
  for (const Window& window : run.windows) {
    const auto wall = render::median(window.summary.wall_ns);
    if (window.summary.kind != "test" || !unit_of(window.summary).empty() || !wall) continue;
    ++timed;
    if (*wall <= longest) continue;
    longest = *wall;
    slowest = &window;
  }
  if (timed < 2 || slowest == nullptr) return {};
  const std::string most = mostly(slowest->summary);
  return fmt::format("<p>Slowest test: {}, {}{}</p>\n", test_link(run, slowest->summary.name),
                     render::duration(longest), most.empty() ? "" : ", mostly " + text(most));
}

std::string folded_card(const Window& window, std::size_t index, const std::string& card) {
  return fmt::format("<details id=\"c{}\"{}><summary><span class=\"name\">{}</span> {}</summary>\n{}</details>\n",
                     index, index == 0 ? " open" : "", text(window.summary.name),
                     time_text(render::median(window.summary.wall_ns)), card);
}

std::string tests_table(const Run& run, std::string_view unit, const std::vector<std::string>& places) {
  const bool only_time = std::none_of(run.windows.begin(), run.windows.end(), [&](const Window& window) {
    return unit_of(window.summary) == unit && has_counts(window.summary);
  });
  std::string rows;
  for (std::size_t i = 0; i < run.windows.size(); ++i) {
    if (unit_of(run.windows[i].summary) == unit) rows += row(run.windows[i], i, places[i], only_time);
  }
  if (rows.empty()) return {};
  return fmt::format("<div><table class=\"tests{}\">\n<thead><tr><th>Test<th>Wall{}</tr></thead>\n<tbody>\n",
                     only_time ? " timed" : "", only_time ? "" : "<th>Kernel<th>Waits<th>Calls<th>Failed<th>Mostly") +
         rows + "</tbody></table></div>\n";
}

}  // namespace syscost::bench::report
