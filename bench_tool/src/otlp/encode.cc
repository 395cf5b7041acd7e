// SPDX-License-Identifier: MIT
#include "otlp/encode.h"

#include <utility>

#include "render/json.h"

namespace syscost::bench::otlp {
namespace {

using render::Json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json whole_number(std::uint64_t number) {
  return std::to_string(number);
}

Json attributes_json(const Attributes& attributes) {
  Json list = Json::array();
  for (const auto& [key, value] : attributes.list()) {
    Json json = Json::object();
    if (const auto* text = std::get_if<std::string>(&value)) {
      json["stringValue"] = *text;
    } else {
      json["intValue"] = std::to_string(std::get<std::int64_t>(value));
    }
    list.push_back({{"key", key}, {"value", std::move(json)}});
  }
  return list;
}

Json whole_numbers(const std::vector<std::uint64_t>& numbers) {
  Json list = Json::array();
  for (const std::uint64_t number : numbers) list.push_back(whole_number(number));
  return list;
}

}  // namespace

std::string span_json(const Span& span) {
  constexpr int kInternal = 1;
  Json json = {{"traceId", span.trace_id}, {"spanId", span.span_id}};
  if (!span.parent_span_id.empty()) json["parentSpanId"] = span.parent_span_id;
  json["name"] = span.name;
  json["kind"] = kInternal;
  json["startTimeUnixNano"] = whole_number(span.start_unix_ns);
  json["endTimeUnixNano"] = whole_number(span.end_unix_ns);
  json["attributes"] = attributes_json(span.attributes);
  if (span.dropped_events != 0) json["droppedEventsCount"] = span.dropped_events;
  if (span.status != Status::unset) {
    Json status = {{"code", static_cast<int>(span.status)}};
    if (!span.status_message.empty()) status["message"] = span.status_message;
    json["status"] = std::move(status);
  }
  return text_of(json);
}

std::string resource_json(const Attributes& resource) {
  return text_of({{"attributes", attributes_json(resource)}});
}

std::string number_json(const NumberPoint& point) {
  return text_of({{"attributes", attributes_json(point.attributes)},
                  {"timeUnixNano", whole_number(point.time_unix_ns)},
                  {"asInt", std::to_string(point.value)}});
}

std::string histogram_json(const HistogramPoint& point) {
  Json json = {{"attributes", attributes_json(point.attributes)},
               {"startTimeUnixNano", whole_number(point.start_unix_ns)},
               {"timeUnixNano", whole_number(point.time_unix_ns)},
               {"count", whole_number(point.count)},
               {"sum", static_cast<double>(point.sum)}};
  if (point.min) json["min"] = static_cast<double>(*point.min);
  if (point.max) json["max"] = static_cast<double>(*point.max);
  json["bucketCounts"] = whole_numbers(point.counts);
  json["explicitBounds"] = *point.bounds;
  return text_of(json);
}

std::string scope_json() {
  return text_of({{"name", "syscost"}, {"version", SYSCOST_VERSION}});
}

std::string metric_head(const Metric& metric) {
  const std::string object = text_of({{"name", metric.name}, {"description", metric.about}, {"unit", metric.unit}});
  return object.substr(1, object.size() - 2) + ',';
}

}  // namespace syscost::bench::otlp
