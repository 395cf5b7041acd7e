// SPDX-License-Identifier: MIT
//
// Latency histograms of a report. All are drawn on one logarithmic axis, so that a shape at the right is slow in each
// of them, and two can be compared by eye.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "syscost/histogram.h"

namespace syscost::bench::report {

/// The powers of two, in ns, that the histograms of a report fill.
class LatencyAxis {
 public:
  /// Makes room for `latency`.
  void include(const Histogram& latency);

  bool empty() const { return first_ > last_; }
  /// The marks at 1 us, 10 us, ...; a picture as wide as the histograms.
  std::string marks() const;
  /// The histogram: a bar for each power of two, the highest as high as the picture. `title` is for people who cannot
  /// see it, and for the mouse.
  std::string picture(const Histogram& latency, std::string_view title) const;

 private:
  double x_of(double ns) const;

  std::size_t first_ = 1;  ///< Powers of two.
  std::size_t last_ = 0;
};

}  // namespace syscost::bench::report
