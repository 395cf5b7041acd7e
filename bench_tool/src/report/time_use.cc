// SPDX-License-Identifier: MIT
#include "report/time_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "render/numbers.h"
#include "report/page.h"

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

namespace {

/// Medians of a launch's sums, in ns.
struct Balance {
  std::string_view test;
  std::optional<double> kernels_ns;
  std::optional<double> copies_ns;
  double sum() const { return kernels_ns.value_or(0) + copies_ns.value_or(0); }
};

/// The sums of a window have these names (docs/profiles.md).
std::vector<Balance> balances_of(const Run& run) {
  std::map<std::string_view, Balance> by_test;
  for (const Window& window : run.windows) {
    const stats::WindowSummary& summary = window.summary;
    if (summary.kind != "gpu_kernel") continue;
    Balance& balance = by_test[summary.test];
    balance.test = summary.test;
    if (summary.name.ends_with(", all kernels (CUPTI)")) balance.kernels_ns = render::median(summary.wall_ns);
    if (summary.name.ends_with(", all transfers (CUPTI)")) balance.copies_ns = render::median(summary.wall_ns);
  }
  std::vector<Balance> balances;
  for (const auto& [test, balance] : by_test) {
    if (balance.kernels_ns && balance.copies_ns && balance.sum() > 0) balances.push_back(balance);
  }
  std::stable_sort(balances.begin(), balances.end(),
                   [](const Balance& a, const Balance& b) { return a.sum() > b.sum(); });
  return balances;
}

/// The share of copies, light, after that of the GPU kernels.
std::string bar(const Balance& balance) {
  constexpr double kWidth = 200;
  const double kernels = kWidth * *balance.kernels_ns / balance.sum();
  return fmt::format(
      "<svg class=\"share\" viewBox=\"0 0 200 12\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"GPU kernels "
      "{0:.0f} %\"><path class=\"rest\" d=\"M{1:.1f} 0H200V12H{1:.1f}z\"/><path d=\"M0 0H{1:.1f}V12H0z\"/></svg>",
      100 * kernels / kWidth, kernels);
}

std::string time_cell(double ns, std::string_view is) {
  return fmt::format("<td class=\"n\" data-is=\"{}\" data-n=\"{}\">{}</td>", is, render::plain(ns),
                     render::duration(ns));
}

}  // namespace

std::string gpu_balance(const Run& run) {
  const std::vector<Balance> balances = balances_of(run);
  if (balances.empty()) return {};
  std::string out =
      "<p>What the GPU did in each test: GPU kernels (dark) and copies between host and device (light). Where copies "
      "take longer, the bus limits the test.</p>\n"
      "<div class=\"wide\"><table class=\"sortable stacked\">\n<thead><tr><th>Test</th><th class=\"n\">GPU kernels</th>"
      "<th class=\"n\">Copies</th><th class=\"n\">Copies : kernels</th><th>Shares</th></tr></thead>\n<tbody>\n";
  for (const Balance& one : balances) {
    out += fmt::format("<tr><td>{}</td>", test_link(run, one.test)) + time_cell(*one.kernels_ns, "GPU kernels") +
           time_cell(*one.copies_ns, "Copies");
    if (*one.kernels_ns > 0) {
      const double ratio = *one.copies_ns / *one.kernels_ns;
      out += fmt::format("<td class=\"n\" data-is=\"Copies : kernels\" data-n=\"{}\">{}</td>", render::plain(ratio),
                         render::ratio(ratio));
    } else {
      out += "<td class=\"n\">n/a</td>";
    }
    out += "<td>" + bar(one) + "</td></tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace syscost::bench::report
