// SPDX-License-Identifier: MIT
#include "budgets/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "csv/problems.h"
#include "render/numbers.h"
#include "stats/latency.h"

namespace syscost::bench::budgets {
namespace {

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0) {
    return std::nullopt;
  }
  return value;
}

/// A number and one of the units.
std::optional<double> with_unit(std::string_view text, std::span<const std::pair<std::string_view, double>> units) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos) return std::nullopt;
  const auto number = to_number(text.substr(0, end));
  std::string_view unit = text.substr(end);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  for (const auto& [name, factor] : units) {
    if (number && name == unit) return *number * factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_time_ns(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}}};
  return with_unit(text, kUnits);
}

std::optional<double> parse_bytes(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"bytes", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776}}};
  return with_unit(text, kUnits);
}

std::optional<double> parse_share(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto percent = to_number(text);
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

namespace {

using stats::SyscallSummary;
using stats::WindowSummary;

// Lines of a baseline with times.
constexpr std::string_view kWall = "wall_ns";
constexpr std::string_view kCpu = "cpu_ns";
constexpr std::string_view kKernel = "kernel_ns";

constexpr std::array<std::pair<int, double>, 3> kPercents = {{{50, 0.50}, {90, 0.90}, {99, 0.99}}};

std::string percentile_line(int percent) {
  return fmt::format("p{}_ns", percent);
}

bool is_chosen(const SyscallSummary& one, const model::SyscallChoice& of) {
  const std::size_t blank = one.name.find(' ');
  const std::string detail = blank == std::string::npos ? "" : one.name.substr(blank + 1);
  return of.matches(one.name.substr(0, blank), detail, one.classes);
}

/// Adds `value_of` over the chosen syscalls. Empty if one of them has no value.
template <class ValueOf>
std::vector<Figure> sum_of(const WindowSummary& window, const model::SyscallChoice& of, ValueOf value_of) {
  if (!window.calls && !window.entries) return {};
  Figure sum;
  for (const SyscallSummary& one : window.syscalls) {
    if (!is_chosen(one, of)) continue;
    const std::optional<double> value = value_of(one);
    if (!value) return {};
    sum.value += *value;
  }
  return {sum};
}

std::optional<double> median(const stats::Numbers& numbers) {
  return numbers ? std::optional(numbers->median) : std::nullopt;
}

std::vector<Figure> calls(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& of) {
  return sum_of(*now.window, of, [](const SyscallSummary& one) { return median(one.count()); });
}

std::vector<Figure> errors(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& of) {
  return sum_of(*now.window, of, [](const SyscallSummary& one) {
    if (!one.errnos) return std::optional<double>();
    double sum = 0;
    for (const auto& [name, spread] : *one.errnos) sum += spread.median;
    return std::optional(sum);
  });
}

/// The errnos with which no call of the syscall failed in the baseline's window.
std::vector<Figure> new_errnos(const Subject& now, const Subject* before, const model::SyscallChoice& of) {
  std::vector<Figure> figures;
  if (before == nullptr) return figures;
  std::set<std::pair<std::string_view, std::string_view>> known;
  for (const SyscallSummary& one : before->window->syscalls) {
    if (is_chosen(one, of) && !one.errnos) return {};
    for (const auto* errnos : {one.errnos ? &*one.errnos : nullptr, &one.per_run_errnos}) {
      if (errnos == nullptr) continue;
      for (const auto& [name, spread] : *errnos) known.emplace(one.name, name);
    }
  }
  for (const SyscallSummary& one : now.window->syscalls) {
    if (!is_chosen(one, of)) continue;
    if (!one.errnos) return {};
    for (const auto& [name, spread] : *one.errnos) {
      if (spread.max > 0 && known.count({one.name, name}) == 0) {
        figures.push_back({fmt::format("{} {}", one.name, name), spread.median});
      }
    }
  }
  if (figures.empty()) figures.push_back({"", 0});
  return figures;
}

std::vector<Figure> wall(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& /*of*/) {
  const auto value = median(now.window->wall_ns);
  return value ? std::vector<Figure>{{"", *value}} : std::vector<Figure>();
}

std::vector<Figure> cpu(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& /*of*/) {
  return now.cpu_ns ? std::vector<Figure>{{"", *now.cpu_ns}} : std::vector<Figure>();
}

std::vector<Figure> kernel(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& of) {
  return sum_of(*now.window, of, [](const SyscallSummary& one) { return median(one.kernel_ns); });
}

template <int kPercent>
std::vector<Figure> percentile(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& of) {
  std::vector<Figure> figures;
  for (const SyscallSummary& one : now.window->syscalls) {
    if (!is_chosen(one, of)) continue;
    const auto found = now.percentiles_ns.find({one.name, kPercent});
    if (found != now.percentiles_ns.end()) figures.push_back({one.name, found->second});
  }
  return figures;
}

/// A file of a backend that sees no results has none of these totals.
bool has_bytes(const WindowSummary& window) {
  return window.bytes_read || window.bytes_mapped;
}

/// The calls without bytes move none. But if a total is missing, one of the window's calls moved an unknown number of
/// bytes. It may be one of those.
std::vector<Figure> moved_bytes(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& of) {
  const WindowSummary& window = *now.window;
  if (!has_bytes(window)) return {};
  const bool is_complete = window.bytes_read && window.bytes_written && window.bytes_mapped && window.bytes_unmapped;
  Figure sum;
  for (const SyscallSummary& one : window.syscalls) {
    if (!is_chosen(one, of)) continue;
    if (!one.bytes && !is_complete) return {};
    if (one.bytes) sum.value += one.bytes->median;
  }
  return {sum};
}

/// Dispatch does not see how much a call of the i386 ABI asks for, so it cannot say whether the call was short.
std::vector<Figure> short_calls(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& of) {
  if (!has_bytes(*now.window)) return {};
  Figure sum;
  for (const SyscallSummary& one : now.window->syscalls) {
    if (!is_chosen(one, of)) continue;
    if (!one.short_calls && one.bytes && one.name.starts_with("i386:")) return {};
    if (one.short_calls) sum.value += one.short_calls->median;
  }
  return {sum};
}

/// A total of the window.
template <auto kNumbers>
std::vector<Figure> window_total(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& /*of*/) {
  const stats::Numbers& numbers = now.window->*kNumbers;
  return numbers ? std::vector<Figure>{{"", numbers->median}} : std::vector<Figure>();
}

/// The most that one of the repetitions had.
template <auto kNumbers>
std::vector<Figure> window_most(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& /*of*/) {
  const stats::Numbers& numbers = now.window->*kNumbers;
  return numbers ? std::vector<Figure>{{"", numbers->max}} : std::vector<Figure>();
}

/// Things that the window leaves open, without those its process makes once and keeps, where repetitions tell these
/// apart.
template <auto kNumbers, auto kByTurn>
std::vector<Figure> left_open(const Subject& now, const Subject* /*before*/, const model::SyscallChoice& /*of*/) {
  const WindowSummary& window = *now.window;
  if (!(window.*kNumbers)) return {};
  const stats::LeftByTurn& left = window.*kByTurn;
  return {{"", left.limited(), left.unknown > left.again ? ", perhaps once in its process" : ""}};
}

constexpr Measure outside_baseline(std::string_view name, Unit unit, Together together, Calls calls,
                                   std::vector<Figure> (*figures)(const Subject&, const Subject*,
                                                                  const model::SyscallChoice&)) {
  return {name, unit, false, together, calls, false, false, "", figures};
}

// Waiting is not work, so kernel time leaves it out by default. The number of volatile calls varies by itself.
constexpr std::array<Measure, 21> kMeasures = {{
    {"calls", Unit::count, true, Together::sum, Calls::chosen, false, true, "!%volatile", &calls},
    {"errors", Unit::count, true, Together::sum, Calls::chosen, false, true, "!%volatile", &errors},
    {"new-errnos", Unit::count, true, Together::sum, Calls::chosen, true, true, "!%volatile", &new_errnos},
    {"wall", Unit::ns, false, Together::sum, Calls::none, false, true, "", &wall},
    {"cpu", Unit::ns, false, Together::sum, Calls::none, false, true, "", &cpu},
    {"kernel", Unit::ns, false, Together::sum, Calls::chosen, false, true, "!%wait", &kernel},
    {"p50", Unit::ns, false, Together::nothing, Calls::chosen, false, true, "!%wait", &percentile<50>},
    {"p90", Unit::ns, false, Together::nothing, Calls::chosen, false, true, "!%wait", &percentile<90>},
    {"p99", Unit::ns, false, Together::nothing, Calls::chosen, false, true, "!%wait", &percentile<99>},
    {"bytes", Unit::bytes, false, Together::sum, Calls::chosen, false, false, "!%volatile", &moved_bytes},
    {"short-calls", Unit::count, false, Together::sum, Calls::chosen, false, false, "!%volatile", &short_calls},
    outside_baseline("bytes-read", Unit::bytes, Together::sum, Calls::all, &window_total<&WindowSummary::bytes_read>),
    outside_baseline("bytes-written", Unit::bytes, Together::sum, Calls::all,
                     &window_total<&WindowSummary::bytes_written>),
    outside_baseline("bytes-mapped", Unit::bytes, Together::sum, Calls::all,
                     &window_total<&WindowSummary::bytes_mapped>),
    outside_baseline("bytes-unmapped", Unit::bytes, Together::sum, Calls::all,
                     &window_total<&WindowSummary::bytes_unmapped>),
    outside_baseline("peak-memory", Unit::bytes, Together::most, Calls::none,
                     &window_most<&WindowSummary::peak_rss_bytes>),
    outside_baseline("descriptors-left", Unit::count, Together::sum, Calls::none,
                     &left_open<&WindowSummary::descriptors_left, &WindowSummary::descriptors_by_turn>),
    outside_baseline("threads-left", Unit::count, Together::sum, Calls::none,
                     &left_open<&WindowSummary::threads_left, &WindowSummary::threads_by_turn>),
    outside_baseline("children-left", Unit::count, Together::sum, Calls::none,
                     &left_open<&WindowSummary::children_left, &WindowSummary::children_by_turn>),
    outside_baseline("mapped-bytes-left", Unit::bytes, Together::sum, Calls::none,
                     &left_open<&WindowSummary::mapped_bytes_left, &WindowSummary::mapped_bytes_by_turn>),
    outside_baseline("peak-mapped", Unit::bytes, Together::most, Calls::none,
                     &window_most<&WindowSummary::peak_mapped_bytes>),
}};

constexpr const char* kNoMemory =
    "which memory: \"peak-memory\" is the most that a program used at one time (give per = \"program\"), "
    "\"bytes-mapped\" "
    "is what it requested";
constexpr const char* kNoPattern =
    "a pattern with a confidence is a guess, and a gate must not guess. Limit what the pattern consists of: for a GPU "
    "measure = \"kernel\" or \"calls\", of = \"ioctl\"";

/// Words of other tools, and of later versions.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kRefusals = {{
    {"critical_path", "the time of a test, loop or benchmark is measure = \"wall\""},
    {"duration", "the time of a test, loop or benchmark is measure = \"wall\""},
    {"time", "which time: \"wall\", \"cpu\" or \"kernel\""},
    {"span_count", "a span is a syscall: measure = \"calls\", and per = \"program\" for all tests of a program"},
    {"syscalls", "measure = \"calls\"; per = \"program\" for all tests of a program"},
    {"memory", kNoMemory},
    {"memory_usage", kNoMemory},
    {"descriptors", "those that a test leaves open: measure = \"descriptors-left\", with --syscost_leaks"},
    {"leaked_descriptors", "measure = \"descriptors-left\", with --syscost_leaks; or a key: leaked_descriptors = 0"},
    {"bytes_written", "measure = \"bytes-written\""},
    {"bytes_read", "measure = \"bytes-read\""},
    {"anti_pattern", kNoPattern},
    {"max", "the maximum of latencies is a single slow call: use \"p99\""},
}};

}  // namespace

std::span<const Measure> measures() {
  return kMeasures;
}

std::vector<std::string> short_keys() {
  std::vector<std::string> keys;
  for (const Measure& one : kMeasures) {
    std::string key(one.name);
    std::replace(key.begin(), key.end(), '-', '_');
    const std::size_t left = key.find("_left");
    keys.push_back(left == std::string::npos ? "max_" + key : "leaked_" + key.substr(0, left));
  }
  return keys;
}

const Measure* measure_of_short_key(std::string_view key) {
  const std::vector<std::string> keys = short_keys();
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &kMeasures[static_cast<std::size_t>(found - keys.begin())];
}

const Measure* find_measure(std::string_view name) {
  const auto found =
      std::find_if(kMeasures.begin(), kMeasures.end(), [&](const Measure& one) { return one.name == name; });
  return found == kMeasures.end() ? nullptr : &*found;
}

std::string_view refusal_of(std::string_view name) {
  for (const auto& [word, reason] : kRefusals) {
    if (word == name) return reason;
  }
  return {};
}

Subject subject_of(const model::Dataset& data, const model::Group& group, const WindowSummary& window,
                   bool has_percentiles) {
  Subject out;
  out.window = &window;
  if (window.cpu_ns) out.cpu_ns = window.cpu_ns->median;
  if (!has_percentiles) return out;
  csv::Problems ignored;  // a histogram that contradicts its row leaves its syscall without percentiles
  for (const stats::SyscallLatency& one : stats::latencies_of(data, group, {}, ignored)) {
    for (const auto& [percent, fraction] : kPercents) {
      if (const auto ns = stats::percentile_ns(one, fraction)) {
        out.percentiles_ns[{one.name, percent}] = static_cast<double>(*ns);
      }
    }
  }
  return out;
}

Subject subject_of(const model::BaselineWindow& lines, const WindowSummary& window) {
  Subject out;
  out.window = &window;
  for (const model::BaselineCell& cell : lines.cells) {
    if (cell.syscall.empty() && cell.what == kCpu) out.cpu_ns = cell.range.middle;
    for (const auto& [percent, fraction] : kPercents) {
      if (cell.what == percentile_line(percent)) out.percentiles_ns[{cell.syscall, percent}] = cell.range.middle;
    }
  }
  return out;
}

void add_times(const Subject& subject, model::BaselineWindow& lines) {
  const auto add = [&](std::string syscall, std::string_view what, const stats::Numbers& numbers) {
    if (!numbers) return;
    const auto whole = [](double ns) { return std::round(ns * 10) / 10; };  // of a loop they are fractions
    lines.cells.push_back(
        {std::move(syscall), std::string(what), {whole(numbers->min), whole(numbers->median), whole(numbers->max)}});
  };
  const auto exactly = [](double ns) { return stats::Spread{1, ns, ns, ns}; };
  add("", kWall, subject.window->wall_ns);
  if (subject.cpu_ns) add("", kCpu, exactly(*subject.cpu_ns));
  for (const SyscallSummary& one : subject.window->syscalls) add(one.name, kKernel, one.kernel_ns);
  for (const auto& [key, ns] : subject.percentiles_ns) add(key.first, percentile_line(key.second), exactly(ns));
}

std::string value_text(Unit unit, double value) {
  if (unit == Unit::bytes) return render::bytes(value);
  return unit == Unit::count ? render::count(value) : render::duration(value);
}

}  // namespace syscost::bench::budgets
