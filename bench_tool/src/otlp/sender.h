// SPDX-License-Identifier: MIT
//
// Sender: spans and points in requests of bounded size, sent to a receiver, again after failures that may pass.
//
// All machines of a fleet may send at the same moment, after the same push. So a wait after a failure grows, and a part
// of it is random; if the receiver says how long to wait, that is how long. All waits together have a limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "otlp/endpoints.h"
#include "otlp/signals.h"
#include "otlp/transport.h"

namespace syscost::bench::otlp {

/// A body for a receiver: TracesData or MetricsData, without a line feed.
struct Request {
  Signal signal = Signal::traces;
  std::string body;
  std::size_t items = 0;  ///< Spans or data points.
};

/// Takes a request. False: it failed, and no other is to be handed over.
using TakeRequest = std::function<bool(Request&&)>;

/// Collects the items of one signal, and puts them together into JSON of bounded size. A receiver limits what it takes
/// at once, so a large run is sent in several requests. Each is complete in itself: it repeats the resource of what it
/// holds. Not thread-safe.
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

/// Time, so that a test needs none.
struct Clock {
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<void(std::chrono::milliseconds)> sleep;
};
Clock own_clock();

/// Not thread-safe.
class Sender {
 public:
  struct Targets {
    Endpoint traces;
    Endpoint metrics;
  };

  /// `limit` is for all requests and waits together. Notes about waits go to `err`. All must outlive the sender.
  Sender(Targets targets, Transport& transport, std::chrono::milliseconds limit, const Clock& clock, std::ostream& err);

  /// Sends a request. False: it failed, and fault() says why.
  bool send(const Request& request);

  const std::string& fault() const { return fault_; }
  std::size_t sent_requests() const { return sent_requests_; }
  std::uint64_t rejected() const { return rejected_; }  ///< Spans and data points that the receiver refused.

 private:
  enum class Outcome { sent, failed, again };

  Outcome judge(const Request& request, const Endpoint& target, const Reply& reply);
  Outcome accepted(const Request& request, const Endpoint& target, const Reply& reply);
  std::string refusal(const Endpoint& target, const Reply& reply) const;
  bool wait(const Endpoint& target, const Reply& reply, int tries);
  /// Without values of headers, which a receiver may repeat.
  std::string without_secrets(std::string text) const;
  void note(const std::string& text);
  std::chrono::milliseconds left() const;

  Targets targets_;
  Transport& transport_;
  Clock clock_;
  std::ostream& err_;
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point deadline_;
  std::string fault_;
  std::string noted_;  ///< The last note: the same is not printed again.
  std::size_t sent_requests_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace syscost::bench::otlp
