// SPDX-License-Identifier: MIT
#include "report/findings_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "findings/by_rule.h"
#include "render/units.h"
#include "report/html.h"

namespace syscost::bench::report {
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
