// SPDX-License-Identifier: MIT
#include "measured.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "case.h"

namespace conformance {

namespace {

/// As JSON: null for a number that is not known.
void put(nlohmann::json& json, const char* name, const std::optional<std::uint64_t>& number) {
  json[name] = number.has_value() ? nlohmann::json(*number) : nlohmann::json();
}
void take(const nlohmann::json& json, const char* name, std::optional<std::uint64_t>& number) {
  if (!json.at(name).is_null()) number = json.at(name).get<std::uint64_t>();
}

}  // namespace

void to_json(nlohmann::json& json, const MeasuredRow& row) {
  json = {{"entries", row.entries},     {"calls", row.calls},         {"restarts", row.restarts},
          {"in_flight", row.in_flight}, {"no_return", row.no_return}, {"carried_in", row.carried_in},
          {"denied", row.denied},       {"latencies", row.latencies}, {"errors", row.errors}};
  put(json, "bytes", row.bytes);
  put(json, "released", row.released);
  put(json, "short_calls", row.short_calls);
}

void from_json(const nlohmann::json& json, MeasuredRow& row) {
  for (const auto& [name, field] : {std::pair("entries", &row.entries), std::pair("calls", &row.calls),
                                    std::pair("restarts", &row.restarts), std::pair("in_flight", &row.in_flight),
                                    std::pair("no_return", &row.no_return), std::pair("carried_in", &row.carried_in),
                                    std::pair("denied", &row.denied), std::pair("latencies", &row.latencies)}) {
    json.at(name).get_to(*field);
  }
  json.at("errors").get_to(row.errors);
  take(json, "bytes", row.bytes);
  take(json, "released", row.released);
  take(json, "short_calls", row.short_calls);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasuredWindow, available, reason, how_to_fix, lost, rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measured, missing, windows, problems)

MeasuredWindow to_measured(const syscost::Cost& cost) {
  MeasuredWindow window;
  window.available = cost.available();
  if (!window.available) {
    window.reason = cost.unavailable()->reason;
    window.how_to_fix = cost.unavailable()->how_to_fix;
    return window;
  }
  window.lost = cost.lost().value_or(0);
  for (const syscost::SyscallCost& one : cost.syscalls()) {
    MeasuredRow row = {one.entries,
                       one.calls,
                       one.restarts,
                       one.in_flight,
                       one.no_return,
                       one.carried_in,
                       one.denied,
                       one.latency.count(),
                       {},
                       {},
                       {},
                       {}};
    row.bytes = cost.bytes(one.name).value();
    row.released = cost.bytes_released(one.name).value();
    row.short_calls = cost.short_calls(one.name).value();
    for (const syscost::SyscallCost::Error& error : one.errors) row.errors[error.number] += error.count;
    // Two rows of one name would hide each other.
    require(window.rows.emplace(one.name, row).second, "two rows are named " + one.name);
  }
  return window;
}

std::string to_json(const Measured& measured) {
  return nlohmann::json(measured).dump(1) + "\n";
}

Measured from_json(const std::string& text) {
  return nlohmann::json::parse(text).get<Measured>();
}

}  // namespace conformance
