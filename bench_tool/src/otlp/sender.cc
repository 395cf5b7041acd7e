// SPDX-License-Identifier: MIT
#include "otlp/sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "otlp/encode.h"
#include "render/output_file.h"

namespace syscost::bench::otlp {
namespace {

/// The temporality of a histogram: each point has the counts since the run's start.
constexpr int kCumulative = 2;

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) text += ',';
    text += item;
  }
  return text;
}

}  // namespace

void Requests::begin_resource(std::string resource) {
  resource_ = std::move(resource);
  has_block_ = false;
}

Requests::Block& Requests::block() {
  if (!has_block_) {
    blocks_.push_back({resource_, {}, {}});
    bytes_ += resource_.size();
    has_block_ = true;
  }
  return blocks_.back();
}

void Requests::add(const Span& span) {
  std::string json = span_json(span);
  const std::size_t bytes = json.size();
  block().spans.push_back(std::move(json));
  count(bytes);
}

void Requests::add(const NumberPoint& point) {
  add_point(point.metric, false, number_json(point));
}

void Requests::add(const HistogramPoint& point) {
  add_point(point.metric, true, histogram_json(point));
}

void Requests::add_point(const Metric* metric, bool is_histogram, std::string json) {
  const std::size_t bytes = json.size();
  std::vector<MetricItems>& metrics = block().metrics;
  auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const MetricItems& one) { return one.metric == metric; });
  if (found == metrics.end()) found = metrics.insert(found, {metric, is_histogram, {}});
  found->points.push_back(std::move(json));
  count(bytes);
}

void Requests::count(std::size_t bytes) {
  ++items_;
  bytes_ += bytes;
  if (bytes_ >= kMostBytes) finish();
}

void Requests::finish() {
  if (items_ > 0 && !has_failed_) has_failed_ = !take_({signal_, body(), items_});
  blocks_.clear();
  has_block_ = false;
  bytes_ = items_ = 0;
}

std::string Requests::body() const {
  std::vector<std::string> blocks;
  for (const Block& one : blocks_) {
    const std::string head = "{\"resource\":" + one.resource;
    const std::string scope = "[{\"scope\":" + scope_json();
    if (signal_ == Signal::traces) {
      blocks.push_back(head + ",\"scopeSpans\":" + scope + ",\"spans\":[" + joined(one.spans) + "]}]}");
      continue;
    }
    std::vector<std::string> metrics;
    for (const MetricItems& metric : one.metrics) {
      const std::string points = "\"dataPoints\":[" + joined(metric.points) + ']';
      const std::string data =
          metric.is_histogram
              ? "\"histogram\":{\"aggregationTemporality\":" + std::to_string(kCumulative) + ',' + points + '}'
              : "\"gauge\":{" + points + '}';
      metrics.push_back('{' + metric_head(*metric.metric) + data + '}');
    }
    blocks.push_back(head + ",\"scopeMetrics\":" + scope + ",\"metrics\":[" + joined(metrics) + "]}]}");
  }
  return std::string(signal_ == Signal::traces ? "{\"resourceSpans\":[" : "{\"resourceMetrics\":[") + joined(blocks) +
         "]}";
}

namespace {

using std::chrono::milliseconds;

/// The limit of one request, the same as in OpenTelemetry's exporters.
constexpr milliseconds kMostOfOne{10'000};
constexpr milliseconds kFirstWait{500};
constexpr milliseconds kLongestWait{10'000};

bool is_passing(long status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

/// Half of the wait is random.
milliseconds scattered(milliseconds wait) {
  static std::mt19937 random{std::random_device{}()};
  const auto half = wait.count() / 2;
  return milliseconds(half + std::uniform_int_distribution<milliseconds::rep>(0, half)(random));
}

std::string seconds_text(milliseconds time) {
  return fmt::format("{:.3g} s", static_cast<double>(time.count()) / 1000);
}

/// How a reply failed, in a few words.
std::string failure_text(const Reply& reply) {
  return reply.status == 0 ? reply.fault : fmt::format("it answered {}", reply.status);
}

}  // namespace

Clock own_clock() {
  return {[] { return std::chrono::steady_clock::now(); },
          [](milliseconds time) { std::this_thread::sleep_for(time); }};
}

Sender::Sender(Targets targets, Transport& transport, milliseconds limit, const Clock& clock, std::ostream& err)
    : targets_(std::move(targets)),
      transport_(transport),
      clock_(clock),
      err_(err),
      limit_(limit),
      deadline_(clock.now() + limit) {}

milliseconds Sender::left() const {
  return std::chrono::duration_cast<milliseconds>(deadline_ - clock_.now());
}

bool Sender::send(const Request& request) {
  const Endpoint& target = request.signal == Signal::traces ? targets_.traces : targets_.metrics;
  std::vector<Header> headers = target.headers;
  headers.push_back({"Content-Type", "application/json"});
  std::string body;
  if (target.is_packed) {
    body = render::gzip(request.body);
    headers.push_back({"Content-Encoding", "gzip"});
  }
  const std::string& sent = target.is_packed ? body : request.body;
  for (int tries = 1;; ++tries) {
    const Reply reply = transport_.post(target, headers, sent, std::clamp(left(), milliseconds(1), kMostOfOne));
    switch (judge(request, target, reply)) {
      case Outcome::sent:
        ++sent_requests_;
        return true;
      case Outcome::failed:
        return false;
      case Outcome::again:
        if (!wait(target, reply, tries)) return false;
    }
  }
}

Sender::Outcome Sender::judge(const Request& request, const Endpoint& target, const Reply& reply) {
  if (reply.status >= 200 && reply.status < 300) return accepted(request, target, reply);
  if (reply.status == 0 ? reply.may_pass : is_passing(reply.status)) return Outcome::again;
  fault_ = without_secrets(refusal(target, reply));
  return Outcome::failed;
}

Sender::Outcome Sender::accepted(const Request& request, const Endpoint& target, const Reply& reply) {
  const Answer answer = parse_answer(request.signal, reply.body);
  if (!answer.is_understood) {
    fault_ = without_secrets(
        fmt::format("{} answered {} with a text that no OTLP receiver sends: {}\nIs the address right? A collector "
                    "usually listens at port 4318.",
                    shown_url(target.url), reply.status, answer.message));
    return Outcome::failed;
  }
  rejected_ += answer.rejected;
  const std::string why = answer.message.empty() ? "it gives no reason" : answer.message;
  if (answer.rejected > 0) {
    note(fmt::format("{} refused {} of {} {}: {}", shown_url(target.url), answer.rejected, request.items,
                     request.signal == Signal::traces ? "spans" : "data points", why));
  } else if (!answer.message.empty()) {
    note(fmt::format("{} took all, and says: {}", shown_url(target.url), answer.message));
  }
  return Outcome::sent;
}

std::string Sender::refusal(const Endpoint& target, const Reply& reply) const {
  const std::string url = shown_url(target.url);
  if (reply.status == 0) return fmt::format("{} cannot be reached: {}", url, reply.fault);
  if (!reply.redirect_url.empty()) {
    return fmt::format(
        "{} answered {}: go to {}\nbench does not follow, because it would send the headers of your variables there. "
        "If "
        "you trust that address, give it.",
        url, reply.status, shown_url(reply.redirect_url));
  }
  std::string text = fmt::format("{} refused the data with status {}", url, reply.status);
  if (const std::string why = refusal_text(reply.body); !why.empty()) text += ": " + why;
  switch (reply.status) {
    case 401:
    case 403:
      return text + "\nSet what it wants in OTEL_EXPORTER_OTLP_HEADERS, for example authorization=Bearer%20TOKEN.";
    case 404:
    case 405:
      return text + fmt::format(
                        "\nIs {} the base address of a receiver? bench adds /v1/traces and /v1/metrics to it. A "
                        "receiver of metrics alone: --only metrics.",
                        target.from);
    case 415:
      return text + "\nThe receiver must take JSON, and gzip unless OTEL_EXPORTER_OTLP_COMPRESSION=none.";
    default:
      return text;
  }
}

bool Sender::wait(const Endpoint& target, const Reply& reply, int tries) {
  const std::string url = shown_url(target.url);
  const std::string how = without_secrets(failure_text(reply));
  const milliseconds grown = std::min(kFirstWait * (1 << std::min(tries - 1, 10)), kLongestWait);
  const milliseconds time = reply.retry_after
                                ? milliseconds(std::min<std::int64_t>(reply.retry_after->count(), 1'000'000'000) * 1000)
                                : scattered(grown);
  if (time < left()) {
    note(fmt::format("{}: {}; bench tries again, for {} at most", url, how, seconds_text(limit_)));
    clock_.sleep(time);
    return true;
  }
  fault_ = fmt::format("{}: {}; {} {} in {} (--timeout)", url, how, tries, tries == 1 ? "try" : "tries",
                       seconds_text(limit_ - std::max(left(), milliseconds(0))));
  if (reply.retry_after) {
    fault_ += fmt::format("\nThe receiver asks to wait {} s. Try again then, or give a longer --timeout.",
                          reply.retry_after->count());
  } else if (reply.status == 0 && sent_requests_ == 0) {
    fault_ += fmt::format(
        "\nDoes a collector listen there? The address comes from {}. Without one, `--otlp FILE` keeps the data in a "
        "file.",
        target.from);
  } else {
    fault_ += "\nTry again later, or give a longer --timeout.";
  }
  return false;
}

std::string Sender::without_secrets(std::string text) const {
  constexpr std::size_t kShortest = 4;  // a shorter value is a part of many words
  for (const Endpoint* target : {&targets_.traces, &targets_.metrics}) {
    for (const Header& header : target->headers) {
      // The part after a scheme, as in "Bearer TOKEN", may be repeated alone.
      const std::string& value = header.value;
      const std::string part = value.substr(value.rfind(' ') + 1);
      for (const std::string& secret : {value, part}) {
        if (secret.size() < kShortest) continue;
        for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3)) {
          text.replace(at, secret.size(), "***");
        }
      }
    }
  }
  return text;
}

void Sender::note(const std::string& text) {
  std::string shown = without_secrets(text);
  if (shown == noted_) return;
  err_ << "bench: " << shown << '\n';
  noted_ = std::move(shown);
}

}  // namespace syscost::bench::otlp
