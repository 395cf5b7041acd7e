// SPDX-License-Identifier: MIT
//
// Endpoints: where a receiver listens, and which headers it wants.
//
// An argument names the receiver; without one, the variables of OpenTelemetry's exporters do. Headers often hold a
// password, so they come from variables alone: each user of a machine can read the arguments of a program. No message
// repeats a value of a header.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "otlp/signals.h"

namespace syscost::bench::otlp {

/// Returns the value of a variable; null if it is not set.
using Environment = std::function<const char*(const char*)>;

/// The environment of this process.
const char* own_environment(const char* name);

struct Header {
  std::string name;
  std::string value;
};

/// Where the requests of one signal go.
struct Endpoint {
  std::string url;              ///< The whole address, with /v1/traces or /v1/metrics.
  std::string from;             ///< Where the address comes from: `--otlp` or the name of a variable.
  std::vector<Header> headers;  ///< The headers that the user set.
  std::string certificates;     ///< A file with the trusted certificates; empty: libcurl's default.
  bool is_packed = true;        ///< gzip
};

/// Returns the address for messages: without its query, which may hold a key.
std::string shown_url(std::string_view url);

/// True if `argument` is an address, not the name of a file.
bool is_url(std::string_view argument);

/// Fills `endpoint`; `argument` is empty or a base address, to which a path is added for each signal. Returns what is
/// wrong, or "".
std::string find_endpoint(Signal signal, const std::string& argument, const Environment& environment,
                          Endpoint& endpoint);

/// Reads `name=value,name=value`, where `%2C` stands for a comma. Returns what is wrong, or "".
std::string parse_headers(std::string_view text, std::vector<Header>& headers);

}  // namespace syscost::bench::otlp
