// SPDX-License-Identifier: MIT
#include "otlp/endpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "csv/text.h"

namespace syscost::bench::otlp {
namespace {

constexpr const char* kBaseVariable = "OTEL_EXPORTER_OTLP_ENDPOINT";
constexpr const char* kHeadersVariable = "OTEL_EXPORTER_OTLP_HEADERS";
constexpr const char* kCertificatesVariable = "OTEL_EXPORTER_OTLP_CERTIFICATE";
constexpr const char* kPackedVariable = "OTEL_EXPORTER_OTLP_COMPRESSION";

/// Variables and the path of one signal.
struct Names {
  const char* endpoint;
  const char* headers;
  const char* packed;
  const char* certificates;
  std::string_view path;
};

const Names& names_of(Signal signal) {
  static constexpr Names kTraces = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
                                    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
                                    "v1/traces"};
  static constexpr Names kMetrics = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
                                     "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE",
                                     "v1/metrics"};
  return signal == Signal::traces ? kTraces : kMetrics;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower_case(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(), lower);
  return all;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// `%2C` as a comma; nullopt where two digits do not follow a percent sign.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0) return std::nullopt;
    out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
    i += 2;
  }
  return out;
}

bool is_header_name(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || kMarks.find(c) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
  });
}

/// Returns the fault of an address as a sentence, or "". A path is added to a base address, so it may have no query.
std::string url_fault(std::string_view url, bool is_base) {
  const std::string scheme = lower_case(url.substr(0, url.find("://")));
  if (!is_url(url) || (scheme != "http" && scheme != "https")) {
    return "is no address that begins with http:// or https://. bench speaks HTTP, for which a collector usually "
           "listens at "
           "port 4318";
  }
  std::string_view rest = url.substr(scheme.size() + 3);
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (host.find('@') != std::string_view::npos) {
    return "holds a user or a password, which every user of this machine can see in the list of processes. Take it out "
           "of the address, and set OTEL_EXPORTER_OTLP_HEADERS=authorization=Basic%20... for it";
  }
  if (host.empty() || host.front() == ':') return "names no host";
  if (std::any_of(url.begin(), url.end(), [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; })) {
    return "holds a blank or a control character";
  }
  if (!is_base) return {};
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return "holds a ? or a #; give the base address, to which bench adds /v1/traces and /v1/metrics";
  }
  for (const std::string_view path : {"/v1/traces", "/v1/metrics"}) {
    if (rest.ends_with(path) || rest.ends_with(std::string(path) + '/')) {
      return fmt::format("ends in {}; give the base address, to which bench adds /v1/traces and /v1/metrics", path);
    }
  }
  return {};
}

/// The first of two variables that is set and not empty: (name, value).
std::pair<const char*, std::string> variable(const Environment& environment, const char* own, const char* common) {
  for (const char* name : {own, common}) {
    const char* const value = environment(name);
    if (value != nullptr && *value != '\0') return {name, value};
  }
  return {common, ""};
}

}  // namespace

const char* own_environment(const char* name) {
  return std::getenv(name);
}

std::string shown_url(std::string_view url) {
  std::string_view shown = url.substr(0, url.find_first_of("?#"));
  std::string text;
  // A redirection may name a user.
  const std::size_t host = shown.find("://");
  const std::size_t user =
      host == std::string_view::npos ? host : shown.substr(0, shown.find('/', host + 3)).rfind('@');
  if (user != std::string_view::npos) {
    text = shown.substr(0, host + 3);
    shown.remove_prefix(user + 1);
  }
  return csv::printable(text + std::string(shown));
}

bool is_url(std::string_view argument) {
  return argument.find("://") != std::string_view::npos;
}

std::string find_endpoint(Signal signal, const std::string& argument, const Environment& environment,
                          Endpoint& endpoint) {
  const Names& names = names_of(signal);
  bool is_base = true;
  if (!argument.empty()) {
    endpoint.from = "--otlp";
    endpoint.url = argument;
  } else {
    const auto [name, value] = variable(environment, names.endpoint, kBaseVariable);
    endpoint.from = name;
    endpoint.url = value;
    is_base = name == kBaseVariable;
    if (value.empty()) {
      return fmt::format("there is nowhere to export to: give --otlp FILE or --otlp URL, or set {}", kBaseVariable);
    }
  }
  if (const std::string fault = url_fault(endpoint.url, is_base); !fault.empty()) {
    return fmt::format("{} {} {}", endpoint.from, shown_url(endpoint.url), fault);
  }
  if (is_base) {
    if (endpoint.url.back() != '/') endpoint.url += '/';
    endpoint.url += names.path;
  }
  const auto [headers_name, headers] = variable(environment, names.headers, kHeadersVariable);
  if (const std::string fault = parse_headers(headers, endpoint.headers); !fault.empty()) {
    return fmt::format("{}: {}", headers_name, fault);
  }
  const auto [packed_name, packed] = variable(environment, names.packed, kPackedVariable);
  if (!packed.empty() && packed != "gzip" && packed != "none") {
    return fmt::format("{} is gzip or none, not \"{}\"", packed_name, csv::printable(packed));
  }
  endpoint.is_packed = packed != "none";
  endpoint.certificates = variable(environment, names.certificates, kCertificatesVariable).second;
  return {};
}

std::string parse_headers(std::string_view text, std::vector<Header>& headers) {
  static constexpr std::array<std::string_view, 5> kOurs = {"content-type", "content-encoding", "content-length",
                                                            "transfer-encoding", "host"};
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view entry = csv::trimmed(text.substr(0, text.find(',')));
    text.remove_prefix(
        std::min(text.size(), text.find(',') == std::string_view::npos ? text.size() : text.find(',') + 1));
    if (entry.empty()) continue;
    const std::size_t equals = entry.find('=');
    const auto name = percent_decoded(csv::trimmed(entry.substr(0, equals)));
    const auto value = percent_decoded(equals == std::string_view::npos ? "" : csv::trimmed(entry.substr(equals + 1)));
    if (equals == std::string_view::npos || !name || !is_header_name(*name)) {
      return fmt::format("entry {} is not NAME=VALUE with the name of a header", number);
    }
    if (!value || !is_header_value(*value)) {
      return fmt::format("the value of {} holds a % without two hexadecimal digits, or a control character", *name);
    }
    if (std::find(kOurs.begin(), kOurs.end(), lower_case(*name)) != kOurs.end()) {
      return fmt::format("{} is set by bench itself", *name);
    }
    headers.push_back({*name, *value});
  }
  return {};
}

}  // namespace syscost::bench::otlp
