// SPDX-License-Identifier: MIT
#include "model/benchmark_json.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

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

/// The time of all iterations under `key`, as a whole number: one pass may take less than a nanosecond. None where the
/// entry has no such time.
Measured total_ns(const Json& entry, const char* key, double unit, std::uint64_t iterations) {
  const auto time = entry.find(key);
  if (time == entry.end() || !time->is_number() || time->get<double>() < 0) return Measured();
  const double total = time->get<double>() * unit * static_cast<double>(iterations);
  return total < 1e18 ? Measured(static_cast<std::uint64_t>(std::llround(total))) : Measured();
}

/// Reads an entry's times into `one`. Returns the fault as a sentence, or "".
std::string read_times(const Json& entry, PlainRepetition& one) {
  const auto iterations = entry.find("iterations");
  if (iterations == entry.end() || !iterations->is_number_unsigned() || iterations->get<std::uint64_t>() == 0) {
    return "iterations is not a whole number above 0";
  }
  if (iterations->get<std::uint64_t>() > Measured::kLargest) {
    return fmt::format("iterations is more than {}", Measured::kLargest);
  }
  const std::optional<double> unit = unit_ns(entry);
  if (!unit) return fmt::format("time_unit \"{}\": ns, us, ms or s expected", text_of(entry, "time_unit"));
  one.iterations = Measured(iterations->get<std::uint64_t>());
  one.wall_ns = total_ns(entry, "real_time", *unit, *one.iterations);
  if (!one.wall_ns.has_value()) return "real_time is not a time";
  one.cpu_ns = total_ns(entry, "cpu_time", *unit, *one.iterations);
  return {};
}

bool is_aggregate(const Json& entry) {
  return text_of(entry, "run_type") == "aggregate" || entry.contains("aggregate_name");
}

/// Takes the repetitions; returns how many there were.
std::size_t take_benchmarks(const std::string& file, const Json& json, Collector& into, csv::Problems& problems) {
  const Json& context = json.at("context");
  PlainRepetition one;
  one.started_at = text_of(context, "date");
  one.host = text_of(context, "host_name");
  one.program = text_of(context, "executable");
  std::map<std::string, std::uint32_t> repetitions;
  std::size_t taken = 0;
  for (const Json& entry : json.at("benchmarks")) {
    if (is_aggregate(entry)) continue;
    one.test = text_of(entry, entry.contains("run_name") ? "run_name" : "name");
    if (one.test.empty()) {
      problems.add(file, 0, "an entry of \"benchmarks\" has no name");
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
    }
    into.take_plain(one);
    ++taken;
  }
  return taken;
}

}  // namespace

void load_benchmark_json(csv::Input& input, Collector& into, csv::Problems& problems) {
  const std::string& file = input.path();
  into.begin_file(file);
  const std::optional<std::string> text = csv::read_whole(input, problems);
  if (!text) return;
  try {
    const Json json = Json::parse(*text);
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
  } catch (const Json::exception& error) {
    problems.add(file, 0, fmt::format("not whole JSON, perhaps of a benchmark that was killed: {}", error.what()));
  }
}

}  // namespace syscost::bench::model
