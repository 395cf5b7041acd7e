// SPDX-License-Identifier: MIT
#include "report/tests_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "findings/find.h"
#include "render/numbers.h"
#include "report/page.h"

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

namespace {

/// A group of thousands would make the file large; the filter of the table of tests finds the others.
constexpr std::size_t kMostNamedHere = 50;

std::string links(const Run& run, const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMostNamedHere; ++i) {
    out += (i == 0 ? "" : ", ") + test_link(run, names[i]);
  }
  if (names.size() > kMostNamedHere) out += fmt::format(" and {} more", names.size() - kMostNamedHere);
  return out;
}

std::string kind_table(const Run& run, const std::vector<Kind>& kinds, std::string_view what, std::string_view calls) {
  std::string out = fmt::format(
      "<div class=\"wide\"><table class=\"groups sortable stacked\">\n<thead><tr><th>{}</th><th class=\"n\">Tests</th>"
      "<th class=\"n\">% of calls</th><th>{}</th></tr></thead>\n<tbody>\n",
      what, calls);
  for (const Kind& kind : kinds) {
    out += fmt::format(
        "<tr><td><details><summary>{}</summary><p>{}</p></details></td><td class=\"n\" data-is=\"Tests\" "
        "data-n=\"{}\">{}</td><td class=\"n\" data-is=\"% of calls\" data-n=\"{}\">{:.1f}</td><td>{}</td></tr>\n",
        text(kind.name), links(run, kind.tests), kind.tests.size(), kind.tests.size(),
        render::plain(kind.share_of_calls), 100 * kind.share_of_calls, text(kind.calls));
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace

std::string kinds_section(const Run& run, const Kinds& kinds) {
  if (kinds.headline.empty()) return {};
  std::string out = fmt::format("<p>{}</p>\n", text(kinds.headline));
  if (!kinds.groups.empty()) out += kind_table(run, kinds.groups, "Group", "Calls of most tests");
  if (!kinds.alone.empty()) out += fmt::format("<p>Like no other test: {}</p>\n", links(run, kinds.alone));
  if (kinds.quiet > 0) {
    out += fmt::format("<p class=\"quiet\">{} test{} without calls besides memory, waits and calls that vary.</p>\n",
                       kinds.quiet, kinds.quiet == 1 ? "" : "s");
  }
  if (kinds.fixtures.empty()) return out;
  return out +
         "<h3>Fixtures</h3>\n<p class=\"quiet\">Calls that each test of a fixture makes: it may be able to make them "
         "once for all of them.</p>\n" +
         kind_table(run, kinds.fixtures, "Fixture", "Calls that each of its tests makes");
}

namespace {

constexpr std::size_t kFewOfARule = 5;     // shown at once
constexpr std::size_t kMostOfARule = 200;  // shown at all

std::string row_of(const Run& run, const findings::AlikeFindings& alike) {
  const findings::Finding& one = *alike.worst;
  const std::size_t others = alike.windows.size() - 1;
  std::string evidence = text(one.evidence);
  if (!one.site.empty()) evidence += " <span class=\"name\">" + text(one.site) + "</span>";
  if (others > 0)
    evidence += fmt::format(" <span class=\"quiet\">also in {} other{}</span>", others, others == 1 ? "" : "s");
  return fmt::format("<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>\n", test_link(run, one.window), evidence,
                     one.cost_ns > 0 ? render::duration(one.cost_ns) : "");
}

std::string table_of(const Run& run, const findings::RuleFindings& rule, std::size_t first, std::size_t last) {
  std::string out =
      "<div class=\"wide\"><table class=\"findings stacked\">\n<thead><tr><th>Test</th><th>Evidence</th><th "
      "class=\"n\">In the "
      "kernel</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = first; i < last; ++i) out += row_of(run, rule.parts[i]);
  return out + "</tbody></table></div>\n";
}

/// A heading, what to do and a table for each rule.
std::string rules_of(const Run& run, const std::vector<findings::Finding>& list, std::string_view heading) {
  std::string out;
  for (const findings::RuleFindings& rule : findings::by_rule(list)) {
    const std::size_t count = rule.parts.size();
    out += fmt::format("<{}>{}: {}</{}>\n<p>{}</p>\n", heading, text(rule.rule->name), text(rule.rule->title), heading,
                       text(rule.rule->remedy));
    out += table_of(run, rule, 0, std::min(count, kFewOfARule));
    if (count <= kFewOfARule) continue;
    out += fmt::format("<details><summary>{} more</summary>\n{}", count - kFewOfARule,
                       table_of(run, rule, kFewOfARule, std::min(count, kMostOfARule)));
    if (count > kMostOfARule) out += fmt::format("<p class=\"quiet\">and {} more</p>\n", count - kMostOfARule);
    out += "</details>\n";
  }
  return out;
}

}  // namespace

std::string findings_section(const Run& run, const findings::Findings& findings) {
  if (findings.found.empty() && findings.notes.empty()) return {};
  std::string out = findings.found.empty() ? "<p>No findings.</p>\n" : rules_of(run, findings.found, "h3");
  if (const std::size_t notes = findings.notes.size(); notes > 0) {
    out += fmt::format(
        "<details class=\"unproven\"><summary>{} note{}: costs that may be on purpose</summary>\n{}</details>\n", notes,
        notes == 1 ? "" : "s", rules_of(run, findings.notes, "h4"));
  }
  std::string lacks;
  for (const findings::NotChecked& one : findings.not_checked) {
    lacks += fmt::format("<li>{}, in {} {}: {}</li>\n", text(one.rule), one.windows,
                         one.windows == 1 ? "test" : "tests", text(one.reason));
  }
  if (!lacks.empty()) {
    out += "<details class=\"quiet\"><summary>What was not looked for</summary><ul class=\"notes\">" + lacks +
           "</ul></details>\n";
  }
  return out;
}

}  // namespace syscost::bench::report
