// SPDX-License-Identifier: MIT
#include "exports/long_table.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "csv/printable.h"

namespace syscost::bench::exports {
namespace {

using otlp::Attributes;

/// Columns of the process, and of the window or syscall, with the attributes that they hold.
using Columns = std::pair<std::string_view, std::string_view>;
constexpr std::array<Columns, 10> kProcess = {Columns{"run_id", "syscost.run_id"},
                                              {"started_at", "syscost.started_at"},
                                              {"label", "syscost.label"},
                                              {"host", "host.name"},
                                              {"kernel_release", "syscost.kernel_release"},
                                              {"commit", "vcs.ref.head.revision"},
                                              {"build_type", "syscost.build_type"},
                                              {"backend", "syscost.backend"},
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

}  // namespace syscost::bench::exports
