// SPDX-License-Identifier: MIT
//
// Sender: requests to a receiver, again after failures that may pass.
//
// All machines of a fleet may send at the same moment, after the same push. So a wait after a failure grows, and a part
// of it is random; if the receiver says how long to wait, that is how long. All waits together have a limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "otlp/endpoints.h"
#include "otlp/requests.h"
#include "otlp/transport.h"

namespace syscost::bench::otlp {

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
