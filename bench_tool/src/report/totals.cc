// SPDX-License-Identifier: MIT
#include "report/totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "render/numbers.h"
#include "report/page.h"
#include "stats/window_summary.h"
#include "syscost/schema.h"

namespace syscost::bench::report {
namespace {

constexpr double kWidth = 240;
constexpr double kHeight = 30;
/// A bar of a single call must be seen beside one of a million.
constexpr double kLowestBar = 1.2;
/// The narrowest room between two marks of the axis.
constexpr double kMarkRoom = 42;

/// 2^power <= ns < 2^(power + 1); 0 for 0 ns.
std::size_t power_of(std::uint64_t ns) {
  return ns == 0 ? 0 : 63U - static_cast<unsigned>(__builtin_clzll(ns));
}

std::array<std::uint64_t, kHistogramMaxBits> by_power(const Histogram& latency) {
  std::array<std::uint64_t, kHistogramMaxBits> counts{};
  for (std::size_t i = 0; i < kHistogramBuckets; ++i)
    counts[power_of(histogram_lower_ns(i))] += latency.bucket_count(i);
  return counts;
}

}  // namespace

void LatencyAxis::include(const Histogram& latency) {
  const auto counts = by_power(latency);
  for (std::size_t power = 0; power < counts.size(); ++power) {
    if (counts[power] == 0) continue;
    first_ = empty() ? power : std::min(first_, power);
    last_ = std::max(last_, power);
  }
}

double LatencyAxis::x_of(double ns) const {
  const auto powers = static_cast<double>(last_ + 1 - first_);
  return kWidth * (std::log2(ns) - static_cast<double>(first_)) / powers;
}

std::string LatencyAxis::marks() const {
  if (empty()) return {};
  std::string out =
      fmt::format("<svg class=\"hist\" viewBox=\"0 0 {:.0f} {:.0f}\" aria-hidden=\"true\">", kWidth, kHeight);
  double free_from = 0;
  constexpr int kDecades = 13;  // up to the last bucket, some 1000 s
  for (int decade = 0; decade < kDecades; ++decade) {
    const double ns = std::pow(10, decade);
    const double x = x_of(ns);
    if (x < 0 || x > kWidth) continue;
    out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} 24v6\"/>", x);
    if (x < free_from || x > kWidth - 18) continue;
    out += fmt::format("<text x=\"{:.1f}\" y=\"19\"{}>{:.0f} {}</text>", x, x < 18 ? "" : " text-anchor=\"middle\"",
                       ns < 1e3   ? ns
                       : ns < 1e6 ? ns / 1e3
                       : ns < 1e9 ? ns / 1e6
                                  : ns / 1e9,
                       ns < 1e3   ? "ns"
                       : ns < 1e6 ? "us"
                       : ns < 1e9 ? "ms"
                                  : "s");
    free_from = x + kMarkRoom;
  }
  return out + "</svg>";
}

std::string LatencyAxis::picture(const Histogram& latency, std::string_view title) const {
  if (empty() || latency.count() == 0) return {};
  const auto counts = by_power(latency);
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  const double step = kWidth / static_cast<double>(last_ + 1 - first_);
  std::string out = fmt::format(
      "<svg class=\"hist\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\"><title>{}</title>"
      "<path class=\"grid\" d=\"M0 29.5h{:.0f}\"/><path d=\"",
      kWidth, kHeight, text(title), kWidth);
  for (std::size_t power = first_; power <= last_; ++power) {
    if (counts[power] == 0) continue;
    const double height =
        std::max(kLowestBar, (kHeight - 2) * static_cast<double>(counts[power]) / static_cast<double>(most));
    out += fmt::format("M{:.1f} 29v-{:.1f}h{:.1f}v{:.1f}z", step * static_cast<double>(power - first_) + 0.5, height,
                       std::max(step - 1, 1.0), height);
  }
  return out + "\"/></svg>";
}

namespace {

using stats::WindowSummary;

void add_to(std::optional<double>& sum, const std::optional<double>& number) {
  sum = sum && number ? std::optional(*sum + *number) : std::nullopt;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : render::kNotMeasured;
}

/// `p50 1.20 us, p99 8.00 us`, for the mouse.
std::string total_latency_title(const Histogram& latency) {
  std::string out = fmt::format("{} timed", latency.count());
  for (const double fraction : {0.5, 0.99}) {
    if (const auto value = stats::percentile_ns(latency, fraction)) {
      out += fmt::format(", p{:.0f} {}", 100 * fraction, render::duration(static_cast<double>(*value)));
    }
  }
  return out + ", max " + render::duration(static_cast<double>(latency.max_ns()));
}

}  // namespace

std::string_view unit_of(const WindowSummary& window) {
  if (window.kind == schema::kKindGpuKernel) return "launch";
  if (!window.is_per_iteration) return "";
  return window.kind == "benchmark" ? "iteration" : "call";
}

void Totals::add(const WindowSummary& window, const std::vector<stats::SyscallLatency>& latencies) {
  if (window.kind == "test") {
    ++tests_;
    failed_ += window.outcomes.contains("failed") ? 1 : 0;
    skipped_ += window.outcomes.contains("skipped") ? 1 : 0;
  }
  if (window.is_lower_bound()) ++lossy_;
  filters_.add(window);
  if (stats::has_altered(window) && window.is_ours() && window.kind != "scope") {
    injected_ += *window.altered;
    ++injected_tests_;
  }
  has_repetitions_ = has_repetitions_ || window.n > 1;
  if (!stats::adds_up(window)) return;
  has_totals_ = true;
  add_to(wall_ns_, render::median(window.wall_ns));
  add_to(work_ns_, render::median(window.work_ns));
  add_to(wait_ns_, render::median(window.wait_ns));
  add_to(calls_, render::median(window.calls ? window.calls : window.entries));
  add_to(errors_, render::median(window.errors));
  add_to(bytes_read_, render::median(window.bytes_read));
  add_to(bytes_written_, render::median(window.bytes_written));
  for (const stats::SyscallSummary& one : window.syscalls) {
    Line& line = syscalls_[one.name];
    line.is_wait = one.is_wait;
    add_to(line.calls, render::median(one.count()));
    add_to(line.errors, render::median(one.errors));
    add_to(line.kernel_ns, render::median(one.kernel_ns));
    if (!line.errors || !one.errnos) continue;
    for (const auto& [name, spread] : *one.errnos) line.errnos[name] += spread.median;
  }
  for (const stats::SyscallLatency& one : latencies) {
    if (one.is_timed && !one.is_coarse) syscalls_[one.name].latency.merge(one.latency);
  }
}

std::string Totals::figures() const {
  std::string out = "<dl class=\"figures\">\n";
  if (tests_ != 0) {
    std::string below = failed_ == 0 ? "none failed" : fmt::format("{} failed", failed_);
    if (skipped_ != 0) below += fmt::format(", {} skipped", skipped_);
    out += figure("Tests", fmt::to_string(tests_), below);
  }
  if (has_totals_) {
    const std::string medians = has_repetitions_ ? "sum of medians" : "sum over tests";
    out += figure("Wall time", time_text(wall_ns_), medians);
    const std::string part = filters_.part();
    const auto below = [&](const std::string& text) { return part.empty() ? text : part; };
    out +=
        figure("In the kernel", time_text(work_ns_),
               work_ns_ && wall_ns_ && *wall_ns_ > 0 ? below(percent(*work_ns_, *wall_ns_) + " of wall time") : part);
    out += figure("Waits", time_text(wait_ns_), below("blocked by design"));
    out += figure("Syscalls", count_text(calls_), below(medians));
    out += figure("Failed calls", count_text(errors_),
                  calls_ && errors_ && *calls_ > 0 ? below(percent(*errors_, *calls_) + " of all") : part);
    if (bytes_read_) out += figure("Bytes read", render::bytes(*bytes_read_), below(medians));
    if (bytes_written_) out += figure("Bytes written", render::bytes(*bytes_written_), below(medians));
  }
  out += "</dl>\n";
  if (injected_ != 0) {
    out += fmt::format("<p class=\"bad\">{} {} answered or changed by faults, in {} {}.</p>\n", injected_,
                       injected_ == 1 ? "call was" : "calls were", injected_tests_,
                       injected_tests_ == 1 ? "test" : "tests");
  }
  if (!filters_.is_everything()) {
    const std::string counted = filters_.common().empty() ? "Tests were counted under several filters"
                                                          : "Only " + filters_.common() + " was counted";
    out += fmt::format("<p class=\"bad\">{}: nothing is known of other syscalls.</p>\n", text(counted));
  }
  if (lossy_ != 0) {
    out += fmt::format("<p class=\"bad\">Events or rows are missing in {} {}: their counts are lower bounds.</p>\n",
                       lossy_, lossy_ == 1 ? "test" : "tests");
  }
  return out;
}

std::string Totals::table(const LatencyAxis& axis, bool waits) const {
  std::vector<const Lines::value_type*> lines;
  double whole_ns = 0;
  for (const auto& entry : syscalls_) {
    if (entry.second.is_wait != waits) continue;
    lines.push_back(&entry);
    whole_ns += entry.second.kernel_ns.value_or(0);
  }
  if (lines.empty()) return {};
  std::stable_sort(lines.begin(), lines.end(), [](const auto* a, const auto* b) {
    const auto key = [](const Line& line) { return std::pair(line.kernel_ns.value_or(-1), line.calls.value_or(-1)); };
    return key(a->second) > key(b->second);
  });
  std::string out = fmt::format(
      "<div class=\"wide\"><table{}>\n<thead><tr><th>{}</th><th class=\"n\">Calls</th><th class=\"n\">Failed</th>"
      "<th class=\"n\">{}</th><th>Share</th><th class=\"n\">Mean</th><th>{}</th></tr></thead>\n<tbody>\n",
      waits ? " class=\"waits\"" : "", waits ? "Wait" : "Syscall", waits ? "Blocked" : "In the kernel", axis.marks());
  for (const auto* entry : lines) {
    const auto& [name, line] = *entry;
    std::string errnos;
    for (const auto& [errno_name, number] : line.errnos) {
      if (line.errors && number > 0)
        errnos += fmt::format("{}{} {}", errnos.empty() ? "" : ", ", render::count(number), errno_name);
    }
    const bool has_mean = line.kernel_ns && line.calls && *line.calls > 0;
    const std::string failed = line.errors && *line.errors == 0 ? "" : count_text(line.errors);
    out += fmt::format("<tr><td class=\"call\">{}</td>", text(name)) + number_cell(count_text(line.calls)) +
           fmt::format("<td class=\"n\" title=\"{}\">{}</td>", text(errnos), failed) +
           number_cell(time_text(line.kernel_ns)) +
           fmt::format("<td>{}</td>", line.kernel_ns && whole_ns > 0 ? share_bar(*line.kernel_ns / whole_ns) : "") +
           number_cell(has_mean ? render::duration(*line.kernel_ns / *line.calls) : "") +
           fmt::format("<td>{}</td></tr>\n", axis.picture(line.latency, total_latency_title(line.latency)));
  }
  return out + "</tbody></table></div>\n";
}

std::string Totals::syscalls(const LatencyAxis& axis) const {
  const std::string work = table(axis, false);
  const std::string waits = table(axis, true);
  if (work.empty() && waits.empty()) return {};
  return "<p class=\"quiet\">All tests together. The histograms show how long calls took, all on one axis; a bar is a "
         "power of two. Waits are calls that block by design.</p>\n" +
         work + waits;
}

}  // namespace syscost::bench::report
