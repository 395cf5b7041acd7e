// SPDX-License-Identifier: MIT
#include "report/findings_list.h"

#include <fmt/format.h>

#include <cstddef>

#include "render/units.h"
#include "report/html.h"

namespace syscost::bench::report {
namespace {

constexpr std::size_t kMostFindings = 200;

std::string row_of_finding(const Run& run, const findings::Finding& one) {
  return fmt::format(
      "<tr><td><b>{}</b><br>{}</td><td>{}{}<br><span class=\"quiet\">{}</span></td>"
      "<td class=\"n\">{}</td></tr>\n",
      text(one.rule), test_link(run, one.window), text(one.evidence),
      one.site.empty() ? "" : " <span class=\"name\">" + text(one.site) + "</span>", text(one.remedy),
      one.cost_ns > 0 ? render::duration(one.cost_ns) : "");
}

}  // namespace

std::string findings_section(const Run& run, const findings::Findings& findings) {
  if (findings.found.empty()) return {};
  std::string out =
      "<div class=\"wide\"><table>\n<thead><tr><th>Finding</th><th>Evidence, and what to do</th><th class=\"n\">In the "
      "kernel</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < findings.found.size() && i < kMostFindings; ++i)
    out += row_of_finding(run, findings.found[i]);
  out += "</tbody></table></div>\n";
  if (findings.found.size() > kMostFindings) {
    out += fmt::format("<p class=\"quiet\">and {} more findings.</p>\n", findings.found.size() - kMostFindings);
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
