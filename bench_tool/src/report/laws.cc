// SPDX-License-Identifier: MIT
#include "report/laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "render/numbers.h"
#include "render/terminal.h"
#include "report/page.h"

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

/// More lines cannot be told apart.
constexpr std::size_t kMostDrawnLines = 5;
/// Room at the right for the names of lines.
constexpr double kLineNames = 70;

struct Range {
  double low, high;
};

Range range_of(const std::vector<LawPlot::Line>& lines, double std::pair<double, double>::*part) {
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const LawPlot::Line& line : lines) {
    for (const auto& point : line.points) {
      range = {std::min(range.low, point.*part), std::max(range.high, point.*part)};
    }
  }
  return range;
}

/// Names of lines in a plot. If two names would overlap, only the first line gets its name.
class LineNames {
 public:
  std::string at(double x, double y, std::string_view name) {
    constexpr double kNameHeight = 11;
    const auto is_near = [&](double other) { return std::abs(other - y) < kNameHeight; };
    if (name.empty() || std::any_of(taken_.begin(), taken_.end(), is_near)) return {};
    taken_.push_back(y);
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 6, y + 4,
                       text(render::shortened_end(name, 11)));
  }

 private:
  std::vector<double> taken_;
};

std::string plot_of(const LawPlot& plot) {
  std::vector<LawPlot::Line> drawn = plot.lines;
  if (drawn.size() > kMostDrawnLines) {  // the first, the last, and some between
    std::vector<LawPlot::Line> some;
    for (std::size_t i = 0; i < kMostDrawnLines; ++i)
      some.push_back(drawn[i * (drawn.size() - 1) / (kMostDrawnLines - 1)]);
    drawn = std::move(some);
  }
  if (drawn.empty()) return plot.reason.empty() ? "" : fmt::format("<p class=\"quiet\">{}</p>", text(plot.reason));
  const Range sizes = range_of(drawn, &std::pair<double, double>::first);
  const Range values = range_of(drawn, &std::pair<double, double>::second);
  const bool has_names = !drawn.front().name.empty();
  const Scale x(sizes.low, sizes.high, kLeft, kPlotWidth - (has_names ? kLineNames : kLeft));
  // Without a logarithm the axis begins at 0, so that a constant looks like one.
  const Scale log_y(values.low, values.high, kPlotBase, kTop);
  const Scale y = log_y.is_log() ? log_y : Scale(0, std::max(values.high, 1e-9), kPlotBase, kTop);
  std::string out;
  std::string names;
  LineNames named;
  std::reverse(drawn.begin(), drawn.end());
  for (const auto& line : drawn) {
    std::string path;
    std::string dots;
    for (const auto& [size, value] : line.points) {
      const std::string shown = plot.is_time ? render::duration(value) : render::count(value);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(size), y.at(value));
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{} at {}{}{}</title></circle>",
                          x.at(size), y.at(value), shown, render::count(size), has_names ? ", " : "", text(line.name));
    }
    out += fmt::format("<path class=\"line\" d=\"{}\"/>{}", path, dots);
    names += named.at(x.at(line.points.back().first), y.at(line.points.back().second), line.name);
  }
  const double right = has_names ? kPlotWidth - kLineNames + kLeft : kPlotWidth;
  return fmt::format(
             "<svg class=\"law\" viewBox=\"0 0 {0:.0f} 104\" role=\"img\" aria-label=\"{1}\"><path class=\"grid\" "
             "d=\"M0 "
             "{2}h{3:.0f}\"/>{4}{5}<text x=\"0\" y=\"100\">{6}</text><text x=\"{3:.0f}\" y=\"100\" "
             "text-anchor=\"end\">{7}{8}</text></svg>",
             kPlotWidth, text(plot.title), kPlotBase + 5, right, out, names, render::count(sizes.low),
             render::count(sizes.high), x.is_log() ? " (log)" : "") +
         (drawn.size() < plot.lines.size()
              ? fmt::format("<p class=\"quiet\">{} of {} lines</p>", drawn.size(), plot.lines.size())
              : "");
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
