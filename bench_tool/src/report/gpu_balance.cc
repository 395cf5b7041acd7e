// SPDX-License-Identifier: MIT
#include "report/gpu_balance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "render/csv_writer.h"
#include "render/ratio.h"
#include "render/units.h"
#include "report/html.h"

namespace syscost::bench::report {
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
