// SPDX-License-Identifier: MIT
#include "report/card.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/site.h"
#include "render/numbers.h"
#include "render/svg.h"
#include "report/changes.h"
#include "report/page.h"

namespace syscost::bench::report {
namespace {

constexpr std::size_t kMostLines = 40;
/// Thinner boxes cannot be seen, and thousands of them make a large file.
constexpr std::size_t kMostStacks = 2000;

std::optional<double> number(const std::optional<std::uint64_t>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::string flame(const std::vector<stats::SiteTotal>& sites) {
  std::vector<render::FoldedStack> stacks;
  for (const stats::SiteTotal& one : sites) {
    if (one.calls.value_or(0) == 0) continue;
    const model::Site& site = one.site;
    render::FoldedStack stack{{}, *one.calls};
    stack.frames.push_back(site.has_line() ? site.file : site.is_unknown() ? model::text_of(site) : site.module);
    if (!site.function.empty()) stack.frames.push_back(site.function);
    stack.frames.push_back(site.has_line() ? fmt::format("{} line {}", one.syscall, site.line) : one.syscall);
    stacks.push_back(std::move(stack));
  }
  if (stacks.empty()) return {};
  const auto by_calls = [](const render::FoldedStack& a, const render::FoldedStack& b) { return a.calls > b.calls; };
  std::stable_sort(stacks.begin(), stacks.end(), by_calls);
  std::string below;
  if (stacks.size() > kMostStacks) {
    below = fmt::format("<p class=\"quiet\">The {} lines with the most calls of {}.</p>\n", kMostStacks, stacks.size());
    stacks.resize(kMostStacks);
  }
  return "<h3>Flame graph</h3>\n<div class=\"wide picture\">" +
         render::flame_svg("Calls by file, function and line", stacks) + "</div>\n" + below;
}

}  // namespace

std::string lines_table(const std::vector<stats::SiteTotal>& sites, std::size_t most) {
  if (sites.empty()) return {};
  std::string out =
      "<div class=\"wide\"><table>\n<thead><tr><th>Line</th><th>Syscall</th><th class=\"n\">Calls</th>"
      "<th class=\"n\">Failed</th><th class=\"n\">In the kernel</th></tr></thead>\n<tbody>\n";
  const std::size_t shown = std::min(most, sites.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const stats::SiteTotal& one = sites[i];
    std::string errnos;
    for (const auto& [name, calls] : one.errnos)
      errnos += fmt::format("{}{} {}", errnos.empty() ? "" : ", ", calls, name);
    if (errnos.empty() && one.errors != 0) errnos = count_text(number(one.errors));
    out += fmt::format("<tr><td class=\"name\">{}</td><td class=\"call\">{}</td>", text(model::text_of(one.site)),
                       text(one.syscall)) +
           number_cell(count_text(number(one.calls))) + number_cell(text(errnos)) +
           number_cell(time_text(number(one.kernel_ns))) + "</tr>\n";
  }
  if (shown < sites.size()) {
    out += fmt::format("<tr class=\"total\"><td colspan=\"5\">and {} more lines</td></tr>\n", sites.size() - shown);
  }
  return out + "</tbody></table></div>\n";
}

std::string lines_section(const std::vector<stats::SiteTotal>& sites) {
  if (sites.empty()) return {};
  return "<p class=\"quiet\">The lines of the program that make the calls, with sums over all tests and "
         "repetitions.</p>\n" +
         lines_table(sites, kMostLines) + flame(sites);
}

namespace {

using stats::Numbers;
using stats::SyscallLatency;
using stats::SyscallSummary;
using stats::WindowSummary;

constexpr std::size_t kMostLinesOfCard = 12;

/// `1.02 ms to 1.30 ms in 10 repetitions`
std::string range_text(const Numbers& numbers, std::size_t n) {
  if (!numbers || n < 2) return {};
  return fmt::format("{} to {} in {} repetitions", render::duration(numbers->min), render::duration(numbers->max), n);
}

std::string figures(const WindowSummary& window) {
  const std::string unit = unit_of(window).empty() ? "" : "per " + std::string(unit_of(window));
  const Numbers& calls = window.calls ? window.calls : window.entries;
  std::string share;
  if (window.work_ns && window.wall_ns && !window.is_timed_apart()) {
    share = render::percent(window.work_ns, window.wall_ns) + " % of wall time";
  }
  std::string out = "<dl class=\"figures\">\n";
  const std::string range = range_text(window.wall_ns, window.n);
  out += figure("Wall time", render::duration(window.wall_ns), range.empty() ? unit : range);
  out += figure("In the kernel", render::duration(window.work_ns), share.empty() ? unit : share);
  out += figure("Waits", render::duration(window.wait_ns), unit);
  out += figure(window.calls ? "Syscalls" : "Entries", render::count(calls), unit);
  out += figure("Failed calls", render::count(window.errors), unit);
  if (window.cpu_ns) out += figure("Processor time", render::duration(window.cpu_ns), "user and system");
  if (window.bytes_read) out += figure("Bytes read", render::bytes(window.bytes_read->median), unit);
  if (window.bytes_written) out += figure("Bytes written", render::bytes(window.bytes_written->median), unit);
  if (window.peak_mapped_bytes && window.peak_mapped_bytes->max > 0) {
    out += figure("Mapped at most", render::bytes(window.peak_mapped_bytes->max), "more than at its begin");
  }
  if (window.descriptors_left && window.descriptors_left->max > 0) {
    out += figure("Left open", render::count(window.descriptors_left), "descriptors");
  }
  return out + "</dl>\n";
}

std::string percentile(const SyscallLatency* latency, double fraction) {
  if (latency == nullptr || !latency->is_timed) return {};
  const auto value = stats::percentile_ns(*latency, fraction);
  return value ? render::duration(static_cast<double>(*value)) : "";
}

std::string failed_text(const SyscallSummary& syscall) {
  const stats::CallFigures& all = syscall.with_per_run();
  if (!all.errors) return render::kNotMeasured;
  if (all.errors->max == 0) return {};
  std::string names;
  for (const auto& [name, spread] : all.errnos.value_or(stats::ErrnoNumbers())) {
    if (spread.max > 0) names += (names.empty() ? "" : ", ") + render::count(Numbers(spread)) + ' ' + name;
  }
  return names.empty() ? render::count(all.errors) : names;
}

std::string latency_title(const SyscallLatency& one) {
  return fmt::format("{}: min {}, max {}", one.name, render::duration(static_cast<double>(one.latency.min_ns())),
                     render::duration(static_cast<double>(one.latency.max_ns())));
}

std::string syscall_table(const WindowSummary& window, const std::vector<SyscallLatency>& latencies,
                          const LatencyAxis& axis) {
  std::string out = fmt::format(
      "<div class=\"wide\"><table><thead><tr><th>Syscall</th><th class=\"n\">Calls</th><th class=\"n\">Failed</th>"
      "<th class=\"n\">In the kernel</th><th class=\"n\">p50</th><th "
      "class=\"n\">p99</th><th>{}</th></tr></thead><tbody>\n",
      axis.marks());
  for (const SyscallSummary& one : window.syscalls) {
    const auto found = std::find_if(latencies.begin(), latencies.end(),
                                    [&](const SyscallLatency& other) { return other.name == one.name; });
    const SyscallLatency* latency = found == latencies.end() ? nullptr : &*found;
    const bool is_drawn = latency != nullptr && latency->is_timed && !latency->is_coarse;
    const stats::CallFigures& all = one.with_per_run();
    out += fmt::format("<tr{}><td class=\"call\">{}{}</td>", one.is_wait ? " class=\"waits\"" : "", text(one.name),
                       one.is_wait ? " <span class=\"quiet\">(wait)</span>" : "") +
           number_cell(render::count(all.calls ? all.calls : all.entries)) + number_cell(text(failed_text(one))) +
           number_cell(render::duration(all.kernel_ns)) + number_cell(percentile(latency, 0.5)) +
           number_cell(percentile(latency, 0.99)) +
           fmt::format("<td>{}</td></tr>\n", is_drawn ? axis.picture(latency->latency, latency_title(*latency)) : "");
  }
  return out + "</tbody></table></div>\n";
}

/// Why there is no table.
std::string no_syscalls(const WindowSummary& window) {
  if (unit_of(window) == "launch") return "A GPU kernel has a time and no syscalls.";
  if (window.incomplete > 0) return "Its rows are missing.";
  if (!window.calls && !window.entries) return "Its syscalls were not counted.";
  if (window.counted_everything()) return "It makes no syscalls.";
  return fmt::format("It makes no calls of {}.", text(stats::filter_text(window)));
}

}  // namespace

std::string card(const Window& window, const CardParts& parts, const LatencyAxis& axis) {
  const WindowSummary& summary = window.summary;
  std::string out = "<div class=\"card\">\n" + figures(summary);
  if (!window.notes.empty()) {
    out += "<ul class=\"notes\">";
    for (const std::string& note : window.notes) {
      out += fmt::format("<li{}>{}</li>\n", note.starts_with("warning") ? " class=\"bad\"" : "", text(note));
    }
    out += "</ul>\n";
  }
  for (const findings::Finding* one : parts.findings) {
    out += fmt::format("<p><b>{}</b>: {} <span class=\"quiet\">{}</span></p>\n", text(one->rule), text(one->evidence),
                       text(one->remedy));
  }
  if (summary.syscalls.empty()) {
    out += fmt::format("<p class=\"quiet\">{}</p>\n", no_syscalls(summary));
  } else {
    out += "<h3>Syscalls</h3>\n" + syscall_table(summary, parts.latencies, axis);
    if (summary.n > 1 || !unit_of(summary).empty()) {
      out += fmt::format(
          "<p class=\"quiet\">Calls and times are {}; histograms and percentiles are of all {} repetitions "
          "together.</p>\n",
          unit_of(summary).empty() ? "medians" : "medians per " + std::string(unit_of(summary)), summary.n);
    }
  }
  if (!parts.sites.empty()) out += "<h3>Lines</h3>\n" + lines_table(parts.sites, kMostLinesOfCard);
  return out + parts.critical_path + parts.timeline + history_chart(window.history) + "</div>\n";
}

}  // namespace syscost::bench::report
