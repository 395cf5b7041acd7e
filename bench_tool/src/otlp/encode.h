// SPDX-License-Identifier: MIT
//
// Encoding: signals as JSON, as the OpenTelemetry protocol writes it.
//
// It is protobuf's JSON with three differences: ids are hexadecimal, names of fields are in camel case, and
// enumerations are numbers. As in protobuf's, whole numbers of 64 bits are strings. The text is ASCII on one line.
#pragma once

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

}  // namespace syscost::bench::otlp
