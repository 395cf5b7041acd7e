// SPDX-License-Identifier: MIT
#include "profilers/perf/perf_output.h"

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "os/decimal_text.h"

namespace syscost::profilers {
namespace {

using Json = nlohmann::ordered_json;

std::string text_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// perf writes numbers as text, as in "counter-value" : "1.000000"; a version without the quotes is read, too.
std::optional<double> number_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  const Json number = found->is_string() ? Json::parse(found->get<std::string>(), nullptr, false) : *found;
  return number.is_number() ? std::optional(number.get<double>()) : std::nullopt;
}

}  // namespace

Result<std::vector<PerfCounter>> read_counters(std::string_view printed) {
  std::vector<PerfCounter> counters;
  std::istringstream lines{std::string(printed)};
  for (std::string line; std::getline(lines, line);) {
    const Json one = Json::parse(line, nullptr, false);
    if (!one.is_object() || !one.contains("counter-value") || text_in(one, "event").empty()) continue;
    PerfCounter counter;
    counter.event = text_in(one, "event");
    counter.value = number_in(one, "counter-value");
    counter.unit = text_in(one, "unit");
    counter.percent_counted = number_in(one, "pcnt-running").value_or(100);
    if (!counter.value) counter.reason = text_in(one, "counter-value");
    counters.push_back(std::move(counter));
  }
  if (counters.empty()) {
    return Failure{"perf stat printed no counter that can be read", "install perf 6.1 or later (it must know -j)"};
  }
  return counters;
}

std::string to_json(const std::vector<PerfCounter>& counters) {
  Json list = Json::array();
  for (const PerfCounter& counter : counters) {
    Json one{{"event", counter.event}};
    if (counter.value) {
      one["value"] = *counter.value;
      one["unit"] = counter.unit;
      one["percent_counted"] = counter.percent_counted;
    } else {
      one["reason"] = counter.reason;
    }
    list.push_back(std::move(one));
  }
  const Json root{{"tool", "perf"}, {"command", "stat"}, {"counters", std::move(list)}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_of(const std::vector<PerfCounter>& counters) {
  std::string text;
  std::map<std::string, std::string> missing;
  for (const PerfCounter& counter : counters) {
    if (!counter.value) {
      std::string& names = missing[counter.reason];
      names.append(names.empty() ? "" : ", ").append(counter.event);
      continue;
    }
    constexpr std::size_t kNameWidth = 18;
    std::string name = counter.event;
    if (name.size() < kNameWidth) name.resize(kNameWidth, ' ');
    text.append("  ").append(name).append(" ").append(significant_text(*counter.value, 15));
    text.append(counter.unit.empty() ? "" : " ").append(counter.unit) += "\n";
  }
  for (const auto& [reason, names] : missing) text.append("  n/a: ").append(names).append(": ").append(reason) += "\n";
  return text;
}

bool has_stacks(std::string_view printed) {
  constexpr std::string_view kRootAlone = R"("l": "root", "v": 0, "c": []})";
  return !printed.empty() && printed.find(kRootAlone) == std::string_view::npos;
}

}  // namespace syscost::profilers
