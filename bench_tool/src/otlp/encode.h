// SPDX-License-Identifier: MIT
//
// Encoding: signals as JSON, as the OpenTelemetry protocol writes it, and the JSON of a receiver's answer.
//
// It is protobuf's JSON with three differences: ids are hexadecimal, names of fields are in camel case, and
// enumerations are numbers. As in protobuf's, whole numbers of 64 bits are strings. The text is ASCII on one line.
#pragma once

#include <cstdint>
#include <string>

#include "otlp/signals.h"

namespace syscost::bench::otlp {

/// An object of each of the protocol's messages Span, Resource, NumberDataPoint and HistogramDataPoint.
std::string span_json(const Span& span);
std::string resource_json(const Attributes& resource);
std::string number_json(const NumberPoint& point);
std::string histogram_json(const HistogramPoint& point);

/// The instrumentation scope: this program and its version.
std::string scope_json();

/// The members of a Metric before its data, with a comma at their end.
std::string metric_head(const Metric& metric);

/// A receiver's answer to an export: how many items it refused, and why.
struct Answer {
  bool is_understood = true;   ///< False: a body that no receiver of this protocol sends.
  std::uint64_t rejected = 0;  ///< Spans or data points.
  std::string message;         ///< Printable and cut to a line; may be there if nothing was rejected.
};

/// Reads the body of a reply with a status from 200 to 299.
Answer parse_answer(Signal signal, const std::string& body);

/// The beginning of a refusal's body, printable, on one line: the `message` of a JSON status, or the text.
std::string refusal_text(const std::string& body);

}  // namespace syscost::bench::otlp
