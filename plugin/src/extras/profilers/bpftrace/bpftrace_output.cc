// SPDX-License-Identifier: MIT
#include "extras/profilers/bpftrace/bpftrace_output.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <utility>

#include "core/regex.h"

namespace syscost::profilers {
namespace {

Failure broken(std::string what, std::size_t line) {
  return Failure{"bpftrace's output, line " + std::to_string(line) + ": " + std::move(what),
                 "the text is kept; if it is complete, report it together with bpftrace --version"};
}

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<MapValue> parse_integer(std::string_view text) {
  if (const auto is_signed = parse_whole<std::int64_t>(text)) return *is_signed;
  if (const auto is_unsigned = parse_whole<std::uint64_t>(text)) return *is_unsigned;
  return std::nullopt;
}

/// "16", "2K", "4G": binary suffixes.
std::optional<std::int64_t> parse_bound(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kSuffixes = "KMGTPE";
  const std::size_t power = kSuffixes.find(text.back());
  if (power == std::string_view::npos) return parse_whole<std::int64_t>(text);
  text.remove_suffix(1);
  const std::optional<std::int64_t> number = parse_whole<std::int64_t>(text);
  std::int64_t scaled = 0;
  if (!number || __builtin_mul_overflow(*number, std::int64_t{1} << (10 * (power + 1)), &scaled)) return std::nullopt;
  return scaled;
}

bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// "[128, 256)        315988 |@@@@   |", "(..., 0)", "[100, ...)", "[1]".
std::optional<HistogramBucket> parse_bucket(std::string_view line) {
  if (line.empty() || (line.front() != '[' && line.front() != '(')) return std::nullopt;
  const std::size_t close = line.find_first_of(")]");
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view range = line.substr(1, close - 1);
  HistogramBucket bucket;
  const std::size_t comma = range.find(", ");
  if (comma == std::string_view::npos) {
    bucket.lower = parse_bound(range);
    if (!bucket.lower || *bucket.lower == INT64_MAX) return std::nullopt;
    bucket.upper = *bucket.lower + 1;
  } else {
    const std::string_view lower = range.substr(0, comma);
    const std::string_view upper = range.substr(comma + 2);
    bucket.lower = parse_bound(lower);
    bucket.upper = parse_bound(upper);
    // The end of the last bucket of 64 bits does not fit in them.
    const bool is_open = upper == "..." || upper == "8E";
    if ((!bucket.lower && lower != "...") || (!bucket.upper && !is_open)) return std::nullopt;
  }
  std::string_view rest = line.substr(close + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::size_t bar = rest.find(" |");
  if (bar == std::string_view::npos || rest.size() < bar + 3 || rest.back() != '|') return std::nullopt;
  const std::optional<std::uint64_t> count = parse_whole<std::uint64_t>(rest.substr(0, bar));
  if (!count || rest.substr(bar + 2, rest.size() - bar - 3).find_first_not_of("@ ") != std::string_view::npos) {
    return std::nullopt;
  }
  bucket.count = *count;
  return bucket;
}

/// "count 1, average 5, total 5"
std::optional<Statistics> parse_statistics(std::string_view text) {
  Statistics result;
  const auto number = [&text](std::string_view name, std::string_view past, std::int64_t& into) {
    if (!consume(text, name)) return false;
    const std::size_t end = past.empty() ? text.size() : text.find(past);
    if (end == std::string_view::npos) return false;
    const std::optional<std::int64_t> value = parse_whole<std::int64_t>(text.substr(0, end));
    if (!value) return false;
    into = *value;
    text.remove_prefix(end + past.size());
    return true;
  };
  if (!number("count ", ", ", result.count) || !number("average ", ", ", result.average) ||
      !number("total ", "", result.total)) {
    return std::nullopt;
  }
  return result;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<BpftraceOutput> parse() {
    if (!rest_.empty() && rest_.back() != '\n') return broken("the last line has no end", 0);
    while (!rest_.empty()) {
      const std::string_view line = take_line();
      if (line.empty()) continue;
      const std::size_t name_end = end_of_name(line);
      if (name_end == 0) {
        add_line(line);
        continue;
      }
      if (Result<void> read = read_entry(line, name_end); !read.ok()) return read.failure();
    }
    return std::move(output_);
  }

 private:
  std::string_view take_line() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++line_number_;
    return line;
  }
  std::string_view peek_line() const { return rest_.substr(0, rest_.find('\n')); }
  static bool is_indented(std::string_view line) { return line.starts_with("    ") || line.starts_with("\t"); }

  /// Returns the length of the map's name, if `line` starts an entry; else 0.
  static std::size_t end_of_name(std::string_view line) {
    if (line.front() != '@') return 0;
    std::size_t end = 1;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) ++end;
    const std::string_view next = line.substr(end);
    return next.starts_with("[") || next.starts_with(": ") || next == ":" ? end : 0;
  }

  void add_line(std::string_view line) {
    std::string_view rest = line;
    if (consume(rest, "Lost ") && rest.ends_with(" events")) {
      rest.remove_suffix(std::string_view(" events").size());
      if (const auto lost = parse_whole<std::uint64_t>(rest)) output_.lost_events += *lost;
    }
    output_.lines.emplace_back(line);
  }

  /// Where "]: " ends the key. Strings may hold it too: the right one is the last with a value after it. Versions after
  /// 0.17 leave out the space if the value begins in the next line.
  std::size_t end_of_key(std::string_view line) const {
    constexpr std::string_view kEnd = "]: ";
    if (line.ends_with("]:") && (parse_bucket(peek_line()) || is_indented(peek_line()))) return line.size() - 2;
    const std::size_t first = line.find(kEnd);
    for (std::size_t at = line.rfind(kEnd); at != std::string_view::npos && at != first;
         at = line.rfind(kEnd, at - 1)) {
      const std::string_view value = line.substr(at + kEnd.size());
      if (value.empty() || parse_integer(value) || parse_statistics(value)) return at;
    }
    return first;
  }

  Result<void> read_entry(std::string_view line, std::size_t name_end) {
    const std::string_view name = line.substr(0, name_end);
    MapEntry entry;
    std::string_view value = line.substr(name_end);
    if (consume(value, "[")) {
      // A key with a stack in it goes over several lines.
      std::size_t end = end_of_key(value);
      const std::size_t started_at = line_number_;
      while (end == std::string_view::npos) {
        entry.key.append(value).append("\n");
        if (rest_.empty()) return broken("the key of " + std::string(name) + " never ends", started_at);
        value = take_line();
        end = end_of_key(value);
      }
      entry.key.append(value.substr(0, end));
      value.remove_prefix(end + 1);
    }
    if (!consume(value, ": ")) value.remove_prefix(1);
    Result<MapValue> read = read_value(value);
    if (!read.ok()) return read.failure();
    entry.value = std::move(read.value());
    if (output_.maps.empty() || output_.maps.back().name != name) output_.maps.push_back({std::string(name), {}});
    output_.maps.back().entries.push_back(std::move(entry));
    return {};
  }

  Result<MapValue> read_value(std::string_view text) {
    if (std::optional<MapValue> integer = parse_integer(text)) return *std::move(integer);
    if (const std::optional<Statistics> statistics = parse_statistics(text)) return MapValue(*statistics);
    if (!text.empty()) return MapValue(std::string(text));
    if (rest_.empty()) return broken("a value is missing", line_number_);
    if (parse_bucket(peek_line())) return read_histogram();
    return MapValue(read_indented());
  }

  Result<MapValue> read_histogram() {
    std::vector<HistogramBucket> buckets;
    while (true) {
      if (rest_.empty()) return broken("the histogram does not end with an empty line", line_number_);
      const std::string_view line = take_line();
      if (line.empty()) return MapValue(std::move(buckets));
      std::optional<HistogramBucket> bucket = parse_bucket(line);
      if (!bucket) return broken("a histogram holds a line that is not a bucket: " + std::string(line), line_number_);
      buckets.push_back(*bucket);
    }
  }

  /// A stack: one frame a line.
  std::string read_indented() {
    std::string text;
    while (!rest_.empty() && is_indented(peek_line())) {
      std::string_view line = take_line();
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (!text.empty()) text += '\n';
      text.append(line);
    }
    return text;
  }

  std::string_view rest_;
  std::size_t line_number_ = 0;
  BpftraceOutput output_;
};

}  // namespace

Result<BpftraceOutput> parse_bpftrace_output(std::string_view text) {
  return Parser(text).parse();
}

std::vector<std::string_view> key_parts(std::string_view key) {
  std::vector<std::string_view> parts;
  if (key.empty()) return parts;
  while (true) {
    const std::size_t comma = key.find(", ");
    parts.push_back(key.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    key.remove_prefix(comma + 2);
  }
}

std::uint64_t total_count(const std::vector<HistogramBucket>& buckets) {
  std::uint64_t total = 0;
  for (const HistogramBucket& bucket : buckets) total += bucket.count;
  return total;
}

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
