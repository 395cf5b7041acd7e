// SPDX-License-Identifier: MIT
#include "otlp/requests.h"

#include <algorithm>

#include "otlp/encode.h"

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

}  // namespace syscost::bench::otlp
