// SPDX-License-Identifier: MIT
//
// show for people: each syscall's histogram, all on one axis.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/shared/window_notes.h"
#include "commands/show/show.h"
#include "render/numbers.h"
#include "render/terminal.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

using stats::SyscallLatency;

constexpr std::size_t kHistogramWidth = 52;  // bpftrace's
/// Columns of a row beside the bar: range, count, the bars at its ends.
constexpr std::size_t kBesideBar = 30;

std::size_t bar_width(std::size_t width) {
  return width == 0 ? kHistogramWidth
                    : std::clamp<std::size_t>(width - std::min(width, kBesideBar), 8, kHistogramWidth);
}

std::string coarse_line(const SyscallLatency& one) {
  if (one.latency.count() == 0) return "no call returned\n";
  const auto bound = [](const std::optional<std::uint64_t>& ns) {
    return ns ? render::duration(static_cast<double>(*ns)) : render::kNotMeasured;
  };
  const double mean = static_cast<double>(one.latency.sum_ns()) / static_cast<double>(one.latency.count());
  return fmt::format("min {}  mean {}  max {}  (no percentiles: a value lies anywhere in its power of two)\n",
                     bound(one.min_ns), render::duration(mean), bound(one.max_ns));
}

std::string percentile_line(const Histogram& latency) {
  if (latency.count() == 0) return "no call returned\n";
  std::string out = "min " + render::duration(static_cast<double>(latency.min_ns()));
  std::size_t unknown = 0;
  for (double fraction : stats::kPercentiles) {
    const auto value = stats::percentile_ns(latency, fraction);
    unknown += value ? 0 : 1;
    out += fmt::format("  p{:.0f} {}", fraction * 100,
                       value ? render::duration(static_cast<double>(*value)) : render::kNotMeasured);
  }
  out += "  max " + render::duration(static_cast<double>(latency.max_ns()));
  if (unknown != stats::kPercentiles.size()) out += "  (percentiles +-6.25 %)";
  if (unknown != 0) out += "  (n/a: too few calls beyond it)";
  return out + '\n';
}

/// The range of buckets that any of the syscalls fills: the axis they share.
std::pair<std::size_t, std::size_t> common_axis(const std::vector<ShownWindow>& parts) {
  std::size_t first = kHistogramBuckets;
  std::size_t last = 0;
  for (const ShownWindow& part : parts) {
    for (const SyscallLatency& one : part.syscalls) {
      for (std::size_t i = 0; i < kHistogramBuckets; ++i) {
        if (one.latency.bucket_count(i) == 0) continue;
        first = std::min(first, i);
        last = std::max(last, i);
      }
    }
  }
  return {first, last};
}

std::string draw(const std::vector<stats::Bar>& rows, std::size_t width) {
  std::uint64_t most = 1;
  for (const stats::Bar& bar : rows) most = std::max(most, bar.count);
  std::string out;
  for (const stats::Bar& bar : rows) {
    const std::string range =
        fmt::format("[{}, {})", render::power_of_two(bar.lower_ns), render::power_of_two(bar.upper_ns));
    const std::string bar_text(static_cast<std::size_t>(static_cast<double>(width) * static_cast<double>(bar.count) /
                                                        static_cast<double>(most)),
                               '@');
    out += fmt::format("{:<16} {:>10} |{:<{}}|\n", range, bar.count, bar_text, width);
  }
  return out;
}

/// `, 70000 bytes (68.4 KiB), 2 short calls`; "" where there are none.
std::string bytes_text(const SyscallLatency& one) {
  std::string out;
  if (one.bytes) out += ", " + render::bytes(static_cast<double>(*one.bytes));
  if (one.bytes_released.value_or(0) > 0 || (one.bytes_released && !one.bytes)) {
    out += ", " + render::bytes(static_cast<double>(*one.bytes_released)) + " released";
  }
  if (one.short_calls.value_or(0) > 0) {
    out += fmt::format(", {} short {}", *one.short_calls, one.short_calls == 1U ? "call" : "calls");
  }
  return out;
}

std::string syscall_text(const SyscallLatency& one, std::pair<std::size_t, std::size_t> axis, bool is_fine,
                         const render::Paint& paint, std::size_t width) {
  std::string out = '\n' + paint.bold(one.name);
  if (!one.classes.empty()) out += fmt::format(" ({})", one.classes);
  const char* const noun =
      one.counts_entries ? (one.calls == 1 ? "entry" : "entries") : (one.calls == 1 ? "call" : "calls");
  out += fmt::format(": {} {}", one.calls ? std::to_string(*one.calls) : render::kNotMeasured, noun);
  if (one.per_run_calls.value_or(0) > 0) out += fmt::format(" ({} per run)", *one.per_run_calls);
  if (one.errors.value_or(0) > 0) {
    std::string list;
    for (const auto& [name, count] : one.errnos) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, name);
    out += fmt::format(", {} failed{}", *one.errors, list.empty() ? "" : " (" + list + ")");
  }
  if (one.altered.value_or(0) > 0) out += fmt::format(", {} answered or changed by faults", *one.altered);
  out += bytes_text(one);
  if (!one.is_timed) return out + "\nno latencies were measured, or not for every row\n";
  out += ", " + render::duration(static_cast<double>(one.latency.sum_ns())) + " in the kernel\n";
  out += one.is_coarse ? coarse_line(one) : percentile_line(one.latency);
  out = render::wrapped(out, width, 2);
  if (one.latency.count() != 0) {
    out += draw(stats::bars(one.latency, axis.first, axis.second, is_fine), bar_width(width));
  }
  return out;
}

std::string part_text(const ShownWindow& part, std::pair<std::size_t, std::size_t> axis, bool is_fine,
                      const render::Paint& paint, std::size_t width) {
  const stats::WindowSummary& window = part.window;
  const bool is_loop = !window.loop.empty();
  std::string out = paint.bold(window.name);
  if (window.is_ours()) {
    out += "  wall " + render::duration(window.wall_ns) + (is_loop && window.wall_ns ? " a call" : "");
  } else {
    out += fmt::format("  traced by {}", window.origin);
  }
  if (!is_loop && window.kind != schema::kKindGpuKernel && window.is_per_iteration && window.is_ours())
    out += " per iteration (counts are not)";
  if (is_loop) {
    out += fmt::format("  n={} of {} (counts and histograms are sums)", window.n, render::calls(window.iterations));
  } else if (window.n > 1) {
    out += fmt::format("  n={} (counts and histograms are sums)", window.n);
  }
  if (!window.counted_everything()) out += "  filter " + stats::filter_text(window);
  out += "  latencies in ns\n";
  for (const std::string& warning : loss_warnings(window)) out += paint.yellow(warning) + '\n';
  if (const std::string left = left_details(window); !left.empty()) out += "left open: " + left + '\n';
  std::vector<MovedBytes> moved;
  for (const SyscallLatency& one : part.syscalls)
    moved.push_back({one.name, static_cast<double>(one.bytes.value_or(0))});
  if (const std::string kinds = bytes_by_kind(moved); !kinds.empty()) out += "bytes by kind of file: " + kinds + '\n';
  if (part.syscalls.empty()) {
    out += stats::no_calls_text(window) + '\n';
  }
  out = render::wrapped(out, width, 2);
  for (const SyscallLatency& one : part.syscalls) out += syscall_text(one, axis, is_fine, paint, width);
  return out;
}

}  // namespace

std::string show_text(const std::vector<ShownWindow>& parts, bool is_fine, const render::Paint& paint,
                      std::size_t width) {
  const auto axis = common_axis(parts);
  const bool is_coarse = std::any_of(parts.begin(), parts.end(), [](const ShownWindow& part) {
    return !part.window.is_ours() && !part.syscalls.empty();
  });
  const bool has_any =
      std::any_of(parts.begin(), parts.end(), [](const ShownWindow& part) { return !part.syscalls.empty(); });
  std::string out;
  for (const ShownWindow& part : parts) {
    if (part.syscalls.empty() && (has_any || &part != &parts.front())) continue;
    if (!out.empty()) out += '\n';
    out += part_text(part, axis, is_fine && !is_coarse, paint, width);
  }
  if (is_fine && is_coarse) out += "\npowers of two: a tool's histogram has no finer rows\n";
  return out;
}

}  // namespace syscost::bench::commands
