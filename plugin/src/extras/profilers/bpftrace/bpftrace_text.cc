// SPDX-License-Identifier: MIT
#include "extras/profilers/bpftrace/bpftrace_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/syscall_table.h"
#include "os/errors.h"
#include "os/text.h"

namespace syscost::profilers {
namespace {

using Json = nlohmann::ordered_json;

/// A summary shows no more than these; the artifact has everything.
constexpr std::size_t kShownSyscalls = 8;
constexpr std::size_t kShownEntries = 12;
constexpr std::size_t kBarWidth = 40;

std::string name_of(int number) {
  if (number < 0) return "unknown";
  return syscall_name({Abi::x86_64, static_cast<std::uint32_t>(number)});
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

Json json_of(const std::vector<HistogramBucket>& buckets) {
  Json list = Json::array();
  for (const HistogramBucket& bucket : buckets) {
    Json one;
    one["lower"] = bucket.lower ? Json(*bucket.lower) : Json();
    one["upper"] = bucket.upper ? Json(*bucket.upper) : Json();
    one["count"] = bucket.count;
    list.push_back(std::move(one));
  }
  return list;
}

void add_value(Json& entry, const MapValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) entry["value"] = *number;
  if (const auto* large = std::get_if<std::uint64_t>(&value)) entry["value"] = *large;
  if (const auto* text = std::get_if<std::string>(&value)) entry["value"] = *text;
  if (const auto* buckets = std::get_if<std::vector<HistogramBucket>>(&value)) entry["histogram"] = json_of(*buckets);
  if (const auto* stats = std::get_if<Statistics>(&value)) {
    entry["count"] = stats->count;
    entry["average"] = stats->average;
    entry["total"] = stats->total;
  }
}

/// A part with line breaks is a stack: its frames, innermost first.
Json json_of_key(std::string_view key) {
  Json parts = Json::array();
  for (const std::string_view part : key_parts(key)) {
    if (part.find('\n') == std::string_view::npos) {
      parts.push_back(std::string(part));
      continue;
    }
    Json frames = Json::array();
    std::istringstream lines{std::string(part)};
    for (std::string line; std::getline(lines, line);) {
      line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
      if (!line.empty()) frames.push_back(line);
    }
    parts.push_back(std::move(frames));
  }
  return parts;
}

Json json_of(const SyscallFigures& syscall) {
  Json one;
  const auto add = [&one](const char* name, const std::optional<std::uint64_t>& value) {
    if (value) one[name] = *value;
  };
  one["syscall"] = name_of(syscall.number);
  one["number"] = syscall.number;
  add("entries", syscall.entries);
  add("returned", syscall.returned);
  add("latency_sum_ns", syscall.latency_sum_ns);
  add("latency_min_ns", syscall.latency_min_ns);
  add("latency_max_ns", syscall.latency_max_ns);
  if (syscall.has_errors) {
    one["errors"] = Json::object();
    for (const auto& [error, count] : syscall.errors) one["errors"][errno_name(error)] = count;
  }
  if (!syscall.latency.empty()) {
    one["latency"] = Json::array();
    for (const LatencyBucket& bucket : syscall.latency) {
      one["latency"].push_back({{"lower_ns", bucket.lower_ns}, {"count", bucket.count}});
    }
  }
  return one;
}

// ---- for people -----------------------------------------------------------------------------------------------------

std::string duration(double ns) {
  constexpr std::array<const char*, 4> kUnits{"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  while (ns >= 1000 && unit + 1 < kUnits.size()) {
    ns /= 1000;
    ++unit;
  }
  const int digits = ns >= 100 || ns == std::floor(ns) ? 0 : 1;
  return decimal_text(ns, digits) + " " + kUnits[unit];
}

std::string bar(std::uint64_t count, std::uint64_t largest) {
  const auto length = static_cast<std::size_t>(static_cast<double>(count) / static_cast<double>(largest) * kBarWidth);
  return std::string(length, '@');
}

void add_syscall(std::string& text, const SyscallFigures& syscall) {
  text += "  " + name_of(syscall.number) + ":";
  std::string separator = " ";
  const auto add = [&text, &separator](const std::string& words) {
    text += separator + words;
    separator = ", ";
  };
  if (syscall.entries) add(std::to_string(*syscall.entries) + " entered");
  if (syscall.returned) add(std::to_string(*syscall.returned) + " returned");
  if (syscall.latency_sum_ns && syscall.returned.value_or(0) > 0) {
    add("mean " + duration(static_cast<double>(*syscall.latency_sum_ns) / static_cast<double>(*syscall.returned)));
  }
  if (syscall.latency_max_ns) add("at most " + duration(static_cast<double>(*syscall.latency_max_ns)));
  for (const auto& [error, count] : syscall.errors) add(std::to_string(count) + " " + errno_name(error));
  text += "\n";
  std::uint64_t largest = 0;
  for (const LatencyBucket& bucket : syscall.latency) largest = std::max(largest, bucket.count);
  for (const LatencyBucket& bucket : syscall.latency) {
    std::array<char, 96> line{};
    std::snprintf(line.data(), line.size(), "    from %8s %10llu |%s\n",
                  duration(static_cast<double>(bucket.lower_ns)).c_str(),
                  static_cast<unsigned long long>(bucket.count),  // NOLINT(google-runtime-int)
                  bar(bucket.count, largest).c_str());
    text += line.data();
  }
}

bool is_agreed(std::string_view map) {
  return map.starts_with("@syscall_") || map.starts_with("@syscost_");
}

std::string one_line(std::string_view key) {
  std::string result;
  std::istringstream lines{std::string(key)};
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty()) result += (result.empty() || result.ends_with(", ") ? "" : " < ") + line;
  }
  return result;
}

/// If the name of a map ends in _ns, its values are times.
template <class Number>
std::string number_text(const TracedMap& map, Number number) {
  const bool is_time = map.name.ends_with("_ns") && static_cast<double>(number) >= 0;
  return is_time ? duration(static_cast<double>(number)) : std::to_string(number);
}

void add_entry(std::string& text, const TracedMap& map, const MapEntry& entry) {
  text += "  " + map.name + (entry.key.empty() ? "" : "[" + one_line(entry.key) + "]") + ":";
  if (const auto* number = std::get_if<std::int64_t>(&entry.value)) text += " " + number_text(map, *number);
  if (const auto* large = std::get_if<std::uint64_t>(&entry.value)) text += " " + number_text(map, *large);
  if (const auto* words = std::get_if<std::string>(&entry.value)) text += " " + one_line(*words);
  if (const auto* stats = std::get_if<Statistics>(&entry.value)) {
    text += " count " + std::to_string(stats->count) + ", average " + number_text(map, stats->average) + ", total " +
            number_text(map, stats->total);
  }
  text += "\n";
  const auto* buckets = std::get_if<std::vector<HistogramBucket>>(&entry.value);
  if (buckets == nullptr) return;
  std::uint64_t largest = 1;
  for (const HistogramBucket& bucket : *buckets) largest = std::max(largest, bucket.count);
  for (const HistogramBucket& bucket : *buckets) {
    if (bucket.count == 0) continue;
    const std::string lower = bucket.lower ? number_text(map, *bucket.lower) : "below";
    std::array<char, 96> line{};
    std::snprintf(line.data(), line.size(), "    from %11s %10llu |%s\n", lower.c_str(),
                  static_cast<unsigned long long>(bucket.count),  // NOLINT(google-runtime-int)
                  bar(bucket.count, largest).c_str());
    text += line.data();
  }
}

}  // namespace

std::string to_json(std::string_view script, const BpftraceOutput& output,
                    const std::vector<SyscallFigures>& syscalls) {
  Json root;
  root["tool"] = "bpftrace";
  root["script"] = script;
  root["maps"] = Json::array();
  for (const TracedMap& map : output.maps) {
    Json entries = Json::array();
    for (const MapEntry& entry : map.entries) {
      Json one;
      one["key"] = json_of_key(entry.key);
      add_value(one, entry.value);
      entries.push_back(std::move(one));
    }
    root["maps"].push_back({{"name", map.name}, {"entries", std::move(entries)}});
  }
  root["lines"] = output.lines;
  root["lost_events"] = output.lost_events;
  root["syscalls"] = Json::array();
  for (const SyscallFigures& syscall : syscalls) root["syscalls"].push_back(json_of(syscall));
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_summary(const BpftraceOutput& output, const std::vector<SyscallFigures>& syscalls) {
  std::string text;
  std::vector<const SyscallFigures*> by_count;
  for (const SyscallFigures& syscall : syscalls) by_count.push_back(&syscall);
  const auto calls = [](const SyscallFigures* one) { return one->entries.value_or(one->returned.value_or(0)); };
  std::stable_sort(by_count.begin(), by_count.end(),
                   [&calls](const auto* a, const auto* b) { return calls(a) > calls(b); });
  for (std::size_t i = 0; i < std::min(by_count.size(), kShownSyscalls); ++i) add_syscall(text, *by_count[i]);
  if (by_count.size() > kShownSyscalls) {
    text += "  and " + std::to_string(by_count.size() - kShownSyscalls) + " syscalls more\n";
  }
  for (const TracedMap& map : output.maps) {
    if (is_agreed(map.name)) continue;
    // bpftrace sorts by value, ascending: the last are the largest.
    const std::size_t skipped = map.entries.size() > kShownEntries ? map.entries.size() - kShownEntries : 0;
    if (skipped > 0) text += "  " + map.name + ": " + std::to_string(skipped) + " smaller ones are left out\n";
    for (std::size_t i = skipped; i < map.entries.size(); ++i) add_entry(text, map, map.entries[i]);
  }
  return text;
}

}  // namespace syscost::profilers
