// SPDX-License-Identifier: MIT
#include "exports/text_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "csv/text.h"

namespace syscost::bench::exports {
namespace {

using otlp::Attributes;

/// Columns of the process, and of the window or syscall, with the attributes that they hold.
using Columns = std::pair<std::string_view, std::string_view>;
constexpr std::array<Columns, 11> kProcess = {Columns{"run_id", "syscost.run_id"},
                                              {"started_at", "syscost.started_at"},
                                              {"label", "syscost.label"},
                                              {"host", "host.name"},
                                              {"kernel_release", "syscost.kernel_release"},
                                              {"commit", "vcs.ref.head.revision"},
                                              {"build_type", "syscost.build_type"},
                                              {"backend", "syscost.backend"},
                                              {"filter", "syscost.filter"},
                                              {"program", "service.name"},
                                              {"pid", "process.pid"}};
constexpr std::array<Columns, 9> kPoint = {Columns{"kind", "syscost.kind"},
                                           {"test", "syscost.test"},
                                           {"window", "syscost.window"},
                                           {"parent", "syscost.parent"},
                                           {"repetition", "syscost.repetition"},
                                           {"origin", "syscost.origin"},
                                           {"syscall", "syscost.syscall"},
                                           {"detail", "syscost.detail"},
                                           {"class", "syscost.class"}};

std::string cell_of(const Attributes& attributes, std::string_view name) {
  for (const auto& [key, value] : attributes.list()) {
    if (key != name) continue;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
    const std::string text = csv::printable(std::get<std::string>(value));
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
  }
  return {};
}

/// `kernel_time` of `syscost.kernel_time`; processor times have a name each.
std::string metric_name(const otlp::Metric& metric, const Attributes& attributes) {
  std::string name(metric.name.substr(metric.name.find('.') + 1));
  if (const std::string mode = cell_of(attributes, "cpu.mode"); !mode.empty()) name = mode + "_time";
  return metric.unit == "ns" && name != "latency" ? name + "_ns" : name;
}

}  // namespace

LongTable::LongTable() {
  for (const auto& [column, attribute] : kProcess) out_ += fmt::format("{},", column);
  for (const auto& [column, attribute] : kPoint) out_ += fmt::format("{},", column);
  out_ += "errno,metric,upper_ns,value\n";
}

void LongTable::begin_process(const Attributes& resource) {
  process_.clear();
  for (const auto& [column, attribute] : kProcess) process_ += cell_of(resource, attribute) + ',';
}

void LongTable::add_line(const otlp::Metric& metric, const Attributes& attributes, const std::string& upper_ns,
                         const std::string& value) {
  out_ += process_;
  for (const auto& [column, attribute] : kPoint) out_ += cell_of(attributes, attribute) + ',';
  out_ +=
      fmt::format("{},{},{},{}\n", cell_of(attributes, "error.type"), metric_name(metric, attributes), upper_ns, value);
}

void LongTable::add(const otlp::NumberPoint& point) {
  add_line(*point.metric, point.attributes, "", fmt::format("{}", point.value));
}

void LongTable::add(const otlp::HistogramPoint& point) {
  for (std::size_t i = 0; i < point.counts.size(); ++i) {
    if (point.counts[i] == 0) continue;
    const std::string upper = i < point.bounds->size() ? fmt::format("{}", (*point.bounds)[i]) : "";
    add_line(*point.metric, point.attributes, upper, fmt::format("{}", point.counts[i]));
  }
}

std::string LongTable::take() {
  return std::exchange(out_, {});
}

namespace {

/// The attributes of a process that tell its series from those of others. The rest stands in syscost_run_info alone:
/// each further label multiplies the series.
constexpr std::array<std::string_view, 5> kIdentity = {"service.name", "host.name", "process.pid", "syscost.run_id",
                                                       "syscost.started_at"};

/// `syscost_test` of `syscost.test`.
std::string name_of(std::string_view attribute) {
  std::string name(attribute);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')); }, '_');
  return name;
}

/// Text between quotes: OpenMetrics knows three escapes, and wants UTF-8.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : csv::printable(text)) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    out += c;
  }
  return out;
}

void append_label(std::string& labels, const std::string& name, const otlp::Attributes::Value& value) {
  if (!labels.empty()) labels += ',';
  const std::string* text = std::get_if<std::string>(&value);
  labels +=
      fmt::format("{}=\"{}\"", name_of(name), text ? escaped(*text) : fmt::format("{}", std::get<std::int64_t>(value)));
}

/// Seconds with nine decimals.
std::string seconds_of(std::uint64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

}  // namespace

void OpenMetrics::begin_process(const otlp::Attributes& resource) {
  process_labels_.clear();
  std::string all;
  for (const auto& [name, value] : resource.list()) {
    append_label(all, name, value);
    if (std::find(kIdentity.begin(), kIdentity.end(), name) != kIdentity.end())
      append_label(process_labels_, name, value);
  }
  open_info_ = fmt::format("syscost_run_info{{{}}} 1", all);
}

void OpenMetrics::close_info(std::uint64_t time_unix_ns) {
  if (open_info_.empty()) return;
  process_info_ += fmt::format("{} {}\n", open_info_, seconds_of(time_unix_ns));
  open_info_.clear();
}

OpenMetrics::Family& OpenMetrics::family_of(const otlp::Metric& metric, const char* type) {
  const std::string unit = metric.unit == "ns" ? "nanoseconds" : "";
  const std::string name = name_of(metric.name) + (unit.empty() ? "" : "_" + unit);
  return families_.try_emplace(name, Family{type, unit, std::string(metric.about), {}}).first->second;
}

std::string OpenMetrics::labels_of(const otlp::Attributes& attributes) const {
  std::string labels = process_labels_;
  for (const auto& [name, value] : attributes.list()) append_label(labels, name, value);
  return labels;
}

void OpenMetrics::add(const otlp::NumberPoint& point) {
  close_info(point.time_unix_ns);
  Family& family = family_of(*point.metric, "gauge");
  const std::string name = name_of(point.metric->name) + (family.unit.empty() ? "" : "_" + family.unit);
  family.samples +=
      fmt::format("{}{{{}}} {} {}\n", name, labels_of(point.attributes), point.value, seconds_of(point.time_unix_ns));
}

void OpenMetrics::add(const otlp::HistogramPoint& point) {
  close_info(point.time_unix_ns);
  Family& family = family_of(*point.metric, "histogram");
  const std::string name = name_of(point.metric->name) + (family.unit.empty() ? "" : "_" + family.unit);
  const std::string labels = labels_of(point.attributes);
  const std::string time = seconds_of(point.time_unix_ns);
  std::string& out = family.samples;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < point.counts.size(); ++i) {
    sum += point.counts[i];
    const std::string bound = i < point.bounds->size() ? fmt::format("{}.0", (*point.bounds)[i]) : "+Inf";
    fmt::format_to(std::back_inserter(out), "{}_bucket{{{},le=\"{}\"}} {} {}\n", name, labels, bound, sum, time);
  }
  fmt::format_to(std::back_inserter(out), "{}_count{{{}}} {} {}\n", name, labels, point.count, time);
  fmt::format_to(std::back_inserter(out), "{}_sum{{{}}} {} {}\n", name, labels, point.sum, time);
}

std::string OpenMetrics::text() const {
  std::string out;
  const auto head = [&](const std::string& name, const Family& family) {
    out += fmt::format("# TYPE {} {}\n", name, family.type);
    if (!family.unit.empty()) out += fmt::format("# UNIT {} {}\n", name, family.unit);
    out += fmt::format("# HELP {} {}\n", name, escaped(family.help));
  };
  head("syscost_run", {"info", "", "A measured process, and what it ran on", {}});
  out += process_info_;
  for (const auto& [name, family] : families_) {
    head(name, family);
    out += family.samples;
  }
  return out + "# EOF\n";
}

}  // namespace syscost::bench::exports
