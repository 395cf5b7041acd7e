// SPDX-License-Identifier: MIT
#include "otlp/encode.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <string_view>
#include <utility>

#include "csv/text.h"
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

namespace {

constexpr std::size_t kMostShown = 300;

std::string shown(std::string_view text) {
  return csv::printable(text.substr(0, kMostShown)) + (text.size() > kMostShown ? "..." : "");
}

/// A number, or a string of digits: 64-bit numbers may be either.
std::uint64_t count_of(const nlohmann::json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  std::uint64_t count = 0;
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), count);
  }
  return count;
}

}  // namespace

Answer parse_answer(Signal signal, const std::string& body) {
  Answer answer;
  if (body.find_first_not_of(" \t\r\n") == std::string::npos) return answer;
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) {
    answer.is_understood = false;
    answer.message = shown(body);
    return answer;
  }
  const auto partial = json.find("partialSuccess");
  if (partial == json.end() || !partial->is_object()) return answer;
  const char* const rejected = signal == Signal::traces ? "rejectedSpans" : "rejectedDataPoints";
  if (const auto count = partial->find(rejected); count != partial->end()) answer.rejected = count_of(*count);
  if (const auto text = partial->find("errorMessage"); text != partial->end() && text->is_string()) {
    answer.message = shown(text->get_ref<const std::string&>());
  }
  return answer;
}

std::string refusal_text(const std::string& body) {
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  if (json.is_object()) {
    const auto text = json.find("message");
    if (text != json.end() && text->is_string()) return shown(text->get_ref<const std::string&>());
  }
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return shown(std::string_view(body).substr(begin, body.find_last_not_of(" \t\r\n") + 1 - begin));
}

}  // namespace syscost::bench::otlp
