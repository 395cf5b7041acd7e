// SPDX-License-Identifier: MIT
#include "report/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "render/units.h"
#include "report/html.h"

namespace syscost::bench::report {
namespace {

/// A group of thousands would make the file large; the filter of the table of tests finds the others.
constexpr std::size_t kMostNamed = 50;

std::string links(const Run& run, const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) {
    out += (i == 0 ? "" : ", ") + test_link(run, names[i]);
  }
  if (names.size() > kMostNamed) out += fmt::format(" and {} more", names.size() - kMostNamed);
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

}  // namespace syscost::bench::report
