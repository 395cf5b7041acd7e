// SPDX-License-Identifier: MIT
//
// Signals: what is exported, as OpenTelemetry names it, before it becomes JSON.
//
// A span is a window or a traced call: it has a beginning and an end. A data point is a number of a metric.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/row_store.h"

namespace syscost::bench::otlp {

enum class Signal { traces, metrics };

/// Attributes in the order in which they are written. A value that was not measured has none.
class Attributes {
 public:
  using Value = std::variant<std::string, std::int64_t>;

  /// No effect for an empty `value`: an empty cell means that there is nothing to say.
  void add(std::string_view key, const std::string& value) {
    if (!value.empty()) list_.emplace_back(std::string(key), value);
  }
  void add(std::string_view key, std::int64_t value) { list_.emplace_back(std::string(key), value); }
  /// No effect for what was not measured, or is more than the protocol's integers hold.
  void add(std::string_view key, const model::Measured& value) {
    constexpr auto kLargest = static_cast<std::uint64_t>(INT64_MAX);
    if (value.has_value() && *value <= kLargest) add(key, static_cast<std::int64_t>(*value));
  }

  const std::vector<std::pair<std::string, Value>>& list() const { return list_; }

 private:
  std::vector<std::pair<std::string, Value>> list_;
};

/// Values of the protocol's enumeration.
enum class Status { unset = 0, ok = 1, error = 2 };

/// Ids in lower-case hexadecimal digits: 32 of a trace, 16 of a span. Times in ns since 1970, UTC.
struct Span {
  std::string trace_id;
  std::string span_id;
  std::string parent_span_id;  ///< Empty: none.
  std::string name;
  std::uint64_t start_unix_ns = 0;
  std::uint64_t end_unix_ns = 0;
  Status status = Status::unset;
  std::string status_message;
  Attributes attributes;
  std::uint32_t dropped_events = 0;  ///< Calls of the window that a trace kept or lost, and that have no span.
};

/// Name, unit and description of a metric. They are the same in each export.
struct Metric {
  std::string_view name;
  std::string_view unit;
  std::string_view about;
};

/// A number. Its metric is a gauge.
struct NumberPoint {
  const Metric* metric = nullptr;
  std::uint64_t time_unix_ns = 0;
  std::int64_t value = 0;
  Attributes attributes;
};

/// Bucket i holds the values above bound i - 1, up to and including bound i. One more bucket holds the rest.
struct HistogramPoint {
  const Metric* metric = nullptr;
  std::uint64_t start_unix_ns = 0;
  std::uint64_t time_unix_ns = 0;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::optional<std::uint64_t> min;
  std::optional<std::uint64_t> max;
  const std::vector<std::uint64_t>* bounds = nullptr;
  std::vector<std::uint64_t> counts;  ///< One more than there are bounds.
  Attributes attributes;
};

}  // namespace syscost::bench::otlp
