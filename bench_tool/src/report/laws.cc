// SPDX-License-Identifier: MIT
#include "report/laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/units.h"
#include "report/html.h"

namespace syscost::bench::report {
namespace {

constexpr double kLeft = 8;
constexpr double kPlotWidth = 220;
constexpr double kTop = 8;
constexpr double kPlotBase = 84;

/// A logarithmic axis where the largest value is many times the smallest, so that small sizes do not fall together.
class Scale {
 public:
  Scale(double low, double high, double from, double to) : low_(low), high_(high), from_(from), to_(to) {
    constexpr double kManyTimes = 16;
    is_log_ = low > 0 && high / low >= kManyTimes;
  }
  double at(double value) const {
    const double low = is_log_ ? std::log(low_) : low_;
    const double high = is_log_ ? std::log(high_) : high_;
    const double share = high > low ? ((is_log_ ? std::log(value) : value) - low) / (high - low) : 0.5;
    return from_ + share * (to_ - from_);
  }
  bool is_log() const { return is_log_; }

 private:
  double low_, high_, from_, to_;
  bool is_log_ = false;
};

std::string plot_of(const LawPlot& plot) {
  if (plot.points.size() < 2) return {};
  double low = plot.points.front().second;
  double high = low;
  for (const auto& [size, value] : plot.points) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const Scale x(plot.points.front().first, plot.points.back().first, kLeft, kPlotWidth - kLeft);
  // Without a logarithm the axis begins at 0, so that a constant looks like one.
  const Scale log_y(low, high, kPlotBase, kTop);
  const Scale y = log_y.is_log() ? log_y : Scale(0, std::max(high, 1e-9), kPlotBase, kTop);
  std::string line;
  std::string dots;
  for (const auto& [size, value] : plot.points) {
    const std::string shown = plot.is_time ? render::duration(value) : render::count(value);
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x.at(size), y.at(value));
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{} at {}</title></circle>", x.at(size),
                        y.at(value), shown, render::count(size));
  }
  return fmt::format(
      "<svg class=\"law\" viewBox=\"0 0 {0:.0f} 104\" role=\"img\" aria-label=\"{1}\"><path class=\"grid\" d=\"M0 "
      "{2}h{0:.0f}\"/>"
      "<path class=\"line\" d=\"{3}\"/>{4}<text x=\"0\" y=\"100\">{5}</text><text x=\"{0:.0f}\" y=\"100\" "
      "text-anchor=\"end\">{6}{7}</text></svg>",
      kPlotWidth, text(plot.title), kPlotBase + 5, line, dots, render::count(plot.points.front().first),
      render::count(plot.points.back().first), x.is_log() ? " (log)" : "");
}

}  // namespace

std::string laws_section(const std::vector<LawFamily>& families) {
  std::string out;
  for (const LawFamily& family : families) {
    if (family.plots.empty()) continue;
    out += fmt::format("<h3 class=\"name\">{}</h3>\n", text(family.name));
    out += "<div class=\"laws\">\n";
    for (const LawPlot& plot : family.plots) {
      out += fmt::format("<figure><figcaption><b>{}</b> <span class=\"name{}\">{}</span></figcaption>{}</figure>\n",
                         text(plot.title), plot.has_law ? "" : " quiet", text(plot.law), plot_of(plot));
    }
    out += "</div>\n";
  }
  return out;
}

}  // namespace syscost::bench::report
