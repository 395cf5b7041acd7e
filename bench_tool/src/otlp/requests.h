// SPDX-License-Identifier: MIT
//
// Requests: spans and points, put together into JSON of bounded size.
//
// A receiver limits what it takes at once, so a large run is sent in several requests. Each is complete in itself: it
// repeats the resource of what it holds.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "otlp/signals.h"

namespace syscost::bench::otlp {

/// A body for a receiver: TracesData or MetricsData, without a line feed.
struct Request {
  Signal signal = Signal::traces;
  std::string body;
  std::size_t items = 0;  ///< Spans or data points.
};

/// Takes a request. False: it failed, and no other is to be handed over.
using TakeRequest = std::function<bool(Request&&)>;

/// Collects the items of one signal. Not thread-safe.
class Requests {
 public:
  /// A request is handed over when its body is about this long. One item more may follow.
  static constexpr std::size_t kMostBytes = 1U << 20U;

  Requests(Signal signal, TakeRequest take) : signal_(signal), take_(std::move(take)) {}

  /// The items that you add after this belong to `resource`, which is JSON (encode.h).
  void begin_resource(std::string resource);
  void add(const Span& span);
  void add(const NumberPoint& point);
  void add(const HistogramPoint& point);
  /// Hands over what is left.
  void finish();

  bool has_failed() const { return has_failed_; }

 private:
  struct MetricItems {
    const Metric* metric;
    bool is_histogram;
    std::vector<std::string> points;
  };
  struct Block {
    std::string resource;
    std::vector<std::string> spans;
    std::vector<MetricItems> metrics;  // about twelve: a search from the start is short
  };

  Block& block();
  void add_point(const Metric* metric, bool is_histogram, std::string json);
  void count(std::size_t bytes);
  std::string body() const;

  Signal signal_;
  TakeRequest take_;
  std::string resource_;
  bool has_block_ = false;  ///< The last block is of resource_.
  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
  std::size_t items_ = 0;
  bool has_failed_ = false;
};

}  // namespace syscost::bench::otlp
