// SPDX-License-Identifier: MIT
#include "model/benchmark_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "model/collector.h"

namespace syscost::bench::model {
namespace {

using Json = nlohmann::json;

/// The member `key` as text; "" when there is none.
std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_true(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::optional<double> unit_ns(const Json& entry) {
  static const std::map<std::string, double> kUnits = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const auto unit = kUnits.find(text_of(entry, "time_unit"));
  return unit == kUnits.end() ? std::nullopt : std::optional(unit->second);
}

/// A whole number; scripts that merge files write it as 10.0, too.
std::optional<std::uint64_t> whole_number(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end()) return std::nullopt;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  if (!found->is_number_float()) return std::nullopt;
  const auto value = found->get<double>();
  constexpr double kExact = 9007199254740992;  // 2^53: beyond it a double has no fractions
  return value >= 0 && value <= kExact && value == std::floor(value) ? std::optional(static_cast<std::uint64_t>(value))
                                                                     : std::nullopt;
}

/// The time of all iterations under `key`, as a whole number: one pass may take less than a nanosecond. None where the
/// entry has no such time: a benchmark that takes its times itself may say that it took less than none.
Measured total_ns(const Json& entry, const char* key, double unit, std::uint64_t iterations) {
  const auto time = entry.find(key);
  if (time == entry.end() || !time->is_number() || time->get<double>() < 0) return Measured();
  const double total = time->get<double>() * unit * static_cast<double>(iterations);
  return total < 1e18 ? Measured(static_cast<std::uint64_t>(std::llround(total))) : Measured();
}

/// Reads an entry's times into `one`. Returns the fault as a sentence, or "".
std::string read_times(const Json& entry, PlainRepetition& one) {
  const std::optional<std::uint64_t> iterations = whole_number(entry, "iterations");
  if (!iterations || *iterations == 0) return "iterations is not a whole number above 0";
  if (*iterations > Measured::kLargest) {
    return fmt::format("iterations is more than {}", Measured::kLargest);
  }
  const std::optional<double> unit = unit_ns(entry);
  if (!unit) return fmt::format("time_unit \"{}\": ns, us, ms or s expected", text_of(entry, "time_unit"));
  const auto wall = entry.find("real_time");
  if (wall == entry.end() || !(wall->is_number() || wall->is_null())) return "real_time is not a number";
  one.iterations = Measured(*iterations);
  one.wall_ns = total_ns(entry, "real_time", *unit, *one.iterations);
  one.cpu_ns = total_ns(entry, "cpu_time", *unit, *one.iterations);
  return {};
}

/// The entries that are no repetition. Before 1.5 only their names say so: of `BM_A_mean` there is a `BM_A_stddev`.
class Aggregates {
 public:
  explicit Aggregates(const Json& entries) {
    for (const Json& entry : entries) {
      if (!entry.contains("run_type")) old_names_.insert(text_of(entry, "name"));
    }
  }

  bool has(const Json& entry) const {
    if (entry.contains("run_type")) return text_of(entry, "run_type") == "aggregate";
    if (entry.contains("aggregate_name")) return true;
    const bool is_law = entry.contains("big_o") || entry.contains("cpu_coefficient") || entry.contains("rms");
    if (is_law && !entry.contains("iterations")) return true;
    const std::string name = text_of(entry, "name");
    for (const std::string_view end : {"_mean", "_median", "_stddev"}) {
      if (!name.ends_with(end)) continue;
      const std::string test = name.substr(0, name.size() - end.size());
      return old_names_.contains(test + "_mean") && old_names_.contains(test + "_stddev");
    }
    return false;
  }

 private:
  std::set<std::string> old_names_;
};

/// Takes the repetitions; returns how many there were.
std::size_t take_benchmarks(const std::string& file, const Json& json, Collector& into, csv::Problems& problems) {
  const Json& context = json.at("context");
  PlainRepetition one;
  one.started_at = text_of(context, "date");
  one.host = text_of(context, "host_name");
  one.program = text_of(context, "executable");
  std::map<std::string, std::uint32_t> repetitions;
  std::size_t taken = 0;
  const Aggregates aggregates(json.at("benchmarks"));
  std::size_t number = 0;
  for (const Json& entry : json.at("benchmarks")) {
    ++number;
    if (!entry.is_object()) {
      problems.add(file, 0, fmt::format("entry {} of \"benchmarks\" is no object", number));
      continue;
    }
    if (aggregates.has(entry)) continue;
    one.test = text_of(entry, entry.contains("run_name") ? "run_name" : "name");
    if (one.test.empty()) {
      problems.add(file, 0, fmt::format("entry {} of \"benchmarks\" has no name", number));
      continue;
    }
    one.repetition = repetitions[one.test]++;
    one.iterations = one.wall_ns = one.cpu_ns = Measured();
    // 1.8 calls a skipped benchmark `skipped`; before that, skipping was an error.
    const bool has_run = !is_true(entry, "error_occurred") && !is_true(entry, "skipped");
    one.outcome = has_run ? "passed" : is_true(entry, "error_occurred") ? "failed" : "skipped";
    if (has_run) {
      if (const std::string fault = read_times(entry, one); !fault.empty()) {
        problems.add(file, 0, fmt::format("benchmark {}: {}", one.test, fault));
        continue;
      }
      if (!one.wall_ns.has_value()) {
        problems.remark(file, fmt::format("benchmark {}: real_time {} is no time, so it has none", one.test,
                                          entry.at("real_time").dump()));
      }
    }
    into.take_plain(one);
    ++taken;
  }
  return taken;
}

/// `after the entry BM_Sort/64`: the last name before byte `at`. "" if there is none.
std::string near_entry(std::string_view text, std::size_t at) {
  constexpr std::string_view kName = "\"name\"";
  const std::size_t key = text.substr(0, at).rfind(kName);
  if (key == std::string_view::npos) return {};
  const std::size_t begin = text.find('"', key + kName.size());
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find('"', begin + 1);
  return fmt::format(" in or after the entry {}", text.substr(begin + 1, end - begin - 1));
}

/// Why the text is no JSON.
std::string fault_of(std::string_view text, const Json::parse_error& error) {
  const std::size_t at = std::min<std::size_t>(error.byte, text.size());
  const bool has_ended = text.find_first_not_of(" \t\r\n", at) == std::string_view::npos;
  return fmt::format("{}{}: {}", has_ended ? "not whole JSON, perhaps of a benchmark that was killed:" : "not JSON:",
                     near_entry(text, at), error.what());
}

}  // namespace

void load_benchmark_json(csv::Input& input, Collector& into, csv::Problems& problems) {
  const std::string& file = input.path();
  into.begin_file(file);
  const std::optional<std::string> bytes = csv::read_whole(input, problems);
  if (!bytes) return;
  if (bytes->starts_with("\xFF\xFE") || bytes->starts_with("\xFE\xFF")) {
    problems.add(file, 0, "UTF-16, and JSON is UTF-8: iconv -f UTF-16 -t UTF-8 makes that of it");
    return;
  }
  Json json = Json::parse(*bytes, nullptr, false);
  const std::string repaired = json.is_discarded() ? repaired_json(*bytes) : std::string();
  try {
    if (json.is_discarded()) json = Json::parse(repaired);
    const bool is_ours = json.is_object() && json.contains("context") && json["context"].is_object() &&
                         json.contains("benchmarks") && json["benchmarks"].is_array();
    if (!is_ours) {
      problems.add(file, 0, "JSON, but not Google Benchmark's: no \"context\" and \"benchmarks\" (--benchmark_out)");
      return;
    }
    const std::size_t problems_before = problems.count();
    if (take_benchmarks(file, json, into, problems) == 0 && problems.count() == problems_before) {
      problems.add(file, 0,
                   "holds no repetition of a benchmark: none ran, or --benchmark_report_aggregates_only left them out");
    }
  } catch (const Json::parse_error& error) {
    problems.add(file, 0, fault_of(repaired, error));
  } catch (const Json::exception& error) {
    problems.add(file, 0, fmt::format("not JSON: {}", error.what()));  // a number that no double holds
  }
}

}  // namespace syscost::bench::model
