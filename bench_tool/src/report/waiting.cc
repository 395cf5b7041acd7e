// SPDX-License-Identifier: MIT
#include "report/waiting.h"

#include <fmt/format.h>

#include <algorithm>

#include "render/units.h"
#include "report/html.h"

namespace syscost::bench::report {
namespace {

constexpr std::size_t kMostParts = 12;

std::string shown_time(std::uint64_t ns) {
  return render::duration(static_cast<double>(ns));
}

std::string percent_of_wall(std::uint64_t ns, std::uint64_t wall_ns) {
  return wall_ns == 0 ? render::kNotMeasured
                      : fmt::format("{:.1f}", 100 * static_cast<double>(ns) / static_cast<double>(wall_ns));
}

std::string share_cell(std::uint64_t ns, std::uint64_t wall_ns, const char* is) {
  return fmt::format("<td class=\"n\" data-is=\"{}\" data-n=\"{}\" title=\"{}\">{}</td>", is, ns, shown_time(ns),
                     percent_of_wall(ns, wall_ns));
}

}  // namespace

std::string path_part(const Path& path) {
  std::string out =
      "<h3>Critical path</h3>\n<p class=\"quiet\">Where the wall time went: if one of these is shorter, the test may "
      "be.</p>\n";
  for (const std::string& note : path.notes) out += fmt::format("<p class=\"bad\">{}</p>\n", text(note));
  out += "<div class=\"wide picture\">" + path.picture + "</div>\n";
  out +=
      "<div class=\"wide\"><table>\n<thead><tr><th class=\"n\">Time</th><th class=\"n\">% of wall</th><th "
      "class=\"n\">Steps</th><th>Thread</th><th>What</th></tr></thead>\n<tbody>\n";
  const std::size_t shown = std::min(path.parts.size(), kMostParts);
  for (std::size_t i = 0; i < shown; ++i) {
    const PathPart& part = path.parts[i];
    out += "<tr>" + number_cell(shown_time(part.took_ns)) +
           number_cell(percent_of_wall(part.took_ns, path.times.wall_ns)) + number_cell(fmt::to_string(part.steps)) +
           fmt::format("<td class=\"name\">{}</td><td>{}</td></tr>\n", text(part.thread), text(part.what));
  }
  if (shown < path.parts.size()) {
    out += fmt::format("<tr class=\"total\"><td colspan=\"5\">and {} more</td></tr>\n", path.parts.size() - shown);
  }
  return out + "</tbody></table></div>\n";
}

std::string waiting_section(const Run& run, const std::vector<PathTimes>& paths) {
  if (paths.empty()) return {};
  std::string out =
      "<p class=\"quiet\">The critical path of each test that has one: the parts of its wall time, in %. Open a test "
      "to see its threads.</p>\n"
      "<div class=\"wide\"><table class=\"sortable stacked\">\n<thead><tr><th>Test</th><th class=\"n\">Wall</th><th "
      "class=\"n\">Runs</th><th class=\"n\">Waits for a CPU</th><th class=\"n\">Blocked</th><th "
      "class=\"n\">Unknown</th></tr></thead>\n<tbody>\n";
  for (const PathTimes& one : paths) {
    out += fmt::format("<tr><td>{}</td><td class=\"n\" data-is=\"Wall\" data-n=\"{}\">{}</td>",
                       test_link(run, one.test), one.wall_ns, shown_time(one.wall_ns)) +
           share_cell(one.runs_ns, one.wall_ns, "Runs %") +
           share_cell(one.waits_for_cpu_ns, one.wall_ns, "Waits for a CPU %") +
           share_cell(one.blocked_ns, one.wall_ns, "Blocked %") + share_cell(one.unknown_ns, one.wall_ns, "Unknown %") +
           "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace syscost::bench::report
