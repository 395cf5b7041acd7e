// SPDX-License-Identifier: MIT
#include "report/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "render/units.h"
#include "report/html.h"

namespace syscost::bench::report {
namespace {

constexpr double kWidth = 240;
constexpr double kHeight = 30;
/// A bar of a single call must be seen beside one of a million.
constexpr double kLowestBar = 1.2;
/// The narrowest room between two marks of the axis.
constexpr double kMarkRoom = 42;

/// 2^power <= ns < 2^(power + 1); 0 for 0 ns.
std::size_t power_of(std::uint64_t ns) {
  return ns == 0 ? 0 : 63U - static_cast<unsigned>(__builtin_clzll(ns));
}

std::array<std::uint64_t, kHistogramMaxBits> by_power(const Histogram& latency) {
  std::array<std::uint64_t, kHistogramMaxBits> counts{};
  for (std::size_t i = 0; i < kHistogramBuckets; ++i)
    counts[power_of(histogram_lower_ns(i))] += latency.bucket_count(i);
  return counts;
}

}  // namespace

void LatencyAxis::include(const Histogram& latency) {
  const auto counts = by_power(latency);
  for (std::size_t power = 0; power < counts.size(); ++power) {
    if (counts[power] == 0) continue;
    first_ = empty() ? power : std::min(first_, power);
    last_ = std::max(last_, power);
  }
}

double LatencyAxis::x_of(double ns) const {
  const auto powers = static_cast<double>(last_ + 1 - first_);
  return kWidth * (std::log2(ns) - static_cast<double>(first_)) / powers;
}

std::string LatencyAxis::marks() const {
  if (empty()) return {};
  std::string out =
      fmt::format("<svg class=\"hist\" viewBox=\"0 0 {:.0f} {:.0f}\" aria-hidden=\"true\">", kWidth, kHeight);
  double free_from = 0;
  constexpr int kDecades = 13;  // up to the last bucket, some 1000 s
  for (int decade = 0; decade < kDecades; ++decade) {
    const double ns = std::pow(10, decade);
    const double x = x_of(ns);
    if (x < 0 || x > kWidth) continue;
    out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} 24v6\"/>", x);
    if (x < free_from || x > kWidth - 18) continue;
    out += fmt::format("<text x=\"{:.1f}\" y=\"19\"{}>{:.0f} {}</text>", x, x < 18 ? "" : " text-anchor=\"middle\"",
                       ns < 1e3   ? ns
                       : ns < 1e6 ? ns / 1e3
                       : ns < 1e9 ? ns / 1e6
                                  : ns / 1e9,
                       ns < 1e3   ? "ns"
                       : ns < 1e6 ? "us"
                       : ns < 1e9 ? "ms"
                                  : "s");
    free_from = x + kMarkRoom;
  }
  return out + "</svg>";
}

std::string LatencyAxis::picture(const Histogram& latency, std::string_view title) const {
  if (empty() || latency.count() == 0) return {};
  const auto counts = by_power(latency);
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  const double step = kWidth / static_cast<double>(last_ + 1 - first_);
  std::string out = fmt::format(
      "<svg class=\"hist\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\"><title>{}</title>"
      "<path class=\"grid\" d=\"M0 29.5h{:.0f}\"/><path d=\"",
      kWidth, kHeight, text(title), kWidth);
  for (std::size_t power = first_; power <= last_; ++power) {
    if (counts[power] == 0) continue;
    const double height =
        std::max(kLowestBar, (kHeight - 2) * static_cast<double>(counts[power]) / static_cast<double>(most));
    out += fmt::format("M{:.1f} 29v-{:.1f}h{:.1f}v{:.1f}z", step * static_cast<double>(power - first_) + 0.5, height,
                       std::max(step - 1, 1.0), height);
  }
  return out + "\"/></svg>";
}

}  // namespace syscost::bench::report
