// SPDX-License-Identifier: MIT
#include "profilers/bpftrace/bpftrace_figures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "core/regex.h"

namespace syscost::profilers {
namespace {

constexpr std::string_view kEntries = "@syscall_entries";
constexpr std::string_view kLatency = "@syscall_lat_ns";
constexpr std::string_view kTotal = "@syscall_total_ns";
constexpr std::string_view kMin = "@syscall_min_ns";
constexpr std::string_view kMax = "@syscall_max_ns";
constexpr std::string_view kErrors = "@syscall_errors";
constexpr std::string_view kUnread = "@syscost_unread";

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// A count or a time: never negative.
std::optional<std::uint64_t> amount(const MapValue& value) {
  if (const auto* large = std::get_if<std::uint64_t>(&value)) return *large;
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<std::vector<LatencyBucket>> latency(const MapValue& value) {
  const auto* buckets = std::get_if<std::vector<HistogramBucket>>(&value);
  if (buckets == nullptr) return std::nullopt;
  std::vector<LatencyBucket> result;
  for (const HistogramBucket& bucket : *buckets) {
    if (bucket.count == 0) continue;
    if (!bucket.lower || *bucket.lower < 0) return std::nullopt;
    result.push_back({static_cast<std::uint64_t>(*bucket.lower), bucket.count});
  }
  return result;
}

/// Returns the length of the string literal at the begin of `text`, with its quotes.
std::size_t string_length(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

/// Returns `source` without its comments and strings. A comment mark inside a string does not begin a comment.
std::string code_of(std::string_view source) {
  std::string result;
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    std::size_t length = 1;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      length = end == std::string_view::npos ? rest.size() : end + 2;
    } else if (rest.front() == '"') {
      length = string_length(rest);
    } else {
      result += rest.front();
    }
    at += length;
  }
  return result;
}

}  // namespace

ScriptMaps maps_of_source(std::string_view source) {
  static const Regex kExitCall = std::move(Regex::parse(R"((^|[^\w:$@])exit\s*\()").value());
  const std::string code = code_of(source);
  const auto names = [&code](std::string_view map) { return code.find(map) != std::string::npos; };
  const bool has_entries = names(kEntries);
  const bool has_latency = names(kLatency);
  const Result<bool> exits = kExitCall.is_found_in(code);
  return {has_entries || has_latency, has_entries, has_latency, names(kErrors), exits.ok() && exits.value()};
}

Result<Figures> figures_of(const BpftraceOutput& output, const ScriptMaps& maps) {
  Figures figures;
  std::map<int, SyscallFigures> by_number;
  std::map<std::string, std::uint64_t> unread;
  const auto nonsense = [](const TracedMap& map, const MapEntry& entry) {
    return Failure{
        "the script's map " + map.name + "[" + entry.key + "] does not hold the values that its name stands for",
        "docs/profiles.md defines the reserved names of maps; give other maps other names"};
  };
  for (const TracedMap& map : output.maps) {
    if (map.name == kUnread) {
      for (const MapEntry& entry : map.entries) {
        const std::optional<std::uint64_t> count = amount(entry.value);
        if (!count) return nonsense(map, entry);
        unread[entry.key] = *count;
      }
      continue;
    }
    constexpr std::array kAgreed{kEntries, kLatency, kTotal, kMin, kMax, kErrors};
    if (std::find(kAgreed.begin(), kAgreed.end(), map.name) == kAgreed.end()) continue;
    for (const MapEntry& entry : map.entries) {
      const std::vector<std::string_view> parts = key_parts(entry.key);
      const bool is_errors = map.name == kErrors;
      const std::optional<int> number = parts.size() == (is_errors ? 2U : 1U) ? parse_int(parts[0]) : std::nullopt;
      if (!number) return nonsense(map, entry);
      SyscallFigures& syscall = by_number[*number];
      syscall.number = *number;
      if (map.name == kLatency) {
        std::optional<std::vector<LatencyBucket>> buckets = latency(entry.value);
        if (!buckets) return nonsense(map, entry);
        syscall.latency = *std::move(buckets);
        continue;
      }
      const std::optional<std::uint64_t> value = amount(entry.value);
      if (!value) return nonsense(map, entry);
      if (is_errors) {
        const std::optional<int> error = parse_int(parts[1]);
        if (!error || *error <= 0) return nonsense(map, entry);
        std::erase_if(syscall.errors, [&error](const auto& known) { return known.first == *error; });
        syscall.errors.emplace_back(*error, *value);
      } else if (map.name == kEntries) {
        syscall.entries = *value;
      } else if (map.name == kTotal) {
        syscall.latency_sum_ns = *value;
      } else if (map.name == kMin) {
        syscall.latency_min_ns = *value;
      } else {
        syscall.latency_max_ns = *value;
      }
    }
  }
  for (const auto& [key, count] : unread) figures.unread += count;
  for (auto& [number, syscall] : by_number) {
    syscall.has_errors = maps.has_errors;
    std::sort(syscall.errors.begin(), syscall.errors.end());
    // If the script fills the map, and the map does not name this syscall, its number is 0.
    if (maps.has_entries && !syscall.entries) syscall.entries = 0;
    if (maps.has_latency) {
      syscall.returned = 0;
      for (const LatencyBucket& bucket : syscall.latency) *syscall.returned += bucket.count;
    }
    figures.syscalls.push_back(std::move(syscall));
  }
  return figures;
}

}  // namespace syscost::profilers
