// SPDX-License-Identifier: MIT
//
// The totals of a run: how much it makes of what, and the latencies of each syscall over all its tests, as histograms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/run.h"
#include "stats/latency.h"
#include "syscost/histogram.h"

namespace syscost::bench::report {

/// The powers of two, in ns, that the histograms of a report fill. All are drawn on this one logarithmic axis, so that
/// a shape at the right is slow in each of them, and two can be compared by eye.
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

class Totals {
 public:
  /// `latencies`: the syscalls of the window.
  void add(const stats::WindowSummary& window, const std::vector<stats::SyscallLatency>& latencies);

  /// Tiles: tests, times, calls.
  std::string figures() const;
  /// A line for each syscall. Empty if there is none.
  std::string syscalls(const LatencyAxis& axis) const;

 private:
  struct Line {
    bool is_wait = false;
    std::optional<double> calls = 0, errors = 0, kernel_ns = 0;
    Histogram latency;
    std::map<std::string, double, std::less<>> errnos;
  };
  using Lines = std::map<std::string, Line, std::less<>>;

  std::string table(const LatencyAxis& axis, bool waits) const;

  Lines syscalls_;
  std::optional<double> wall_ns_ = 0, work_ns_ = 0, wait_ns_ = 0, calls_ = 0, errors_ = 0, bytes_read_ = 0,
                        bytes_written_ = 0;
  std::size_t tests_ = 0, failed_ = 0, skipped_ = 0, lossy_ = 0, injected_tests_ = 0;
  stats::SeenFilters filters_;
  std::uint64_t injected_ = 0;
  bool has_totals_ = false;
  bool has_repetitions_ = false;
};

}  // namespace syscost::bench::report
