// SPDX-License-Identifier: MIT
//
// The texts of compare about times: the cell of a row, the notes below the table, and the cause of a change of kernel
// time.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "commands/compare/compare.h"
#include "judge/row_times.h"
#include "render/numbers.h"
#include "render/table.h"
#include "stats/significance.h"

namespace syscost::bench::commands {
namespace {

using judge::Comparison;
using judge::Verdict;
using stats::Interval;
using stats::WindowSummary;

/// `862x faster`, `12 % slower`; "" within `least` of equal.
std::string factor(double ratio, double least) {
  const bool is_faster = ratio < 1;
  const double times = is_faster ? 1 / ratio : ratio;
  const char* word = is_faster ? "faster" : "slower";
  if (times >= 9.95) return fmt::format("{:.0f}x {}", times, word);
  if (times >= 2) return fmt::format("{:.1f}x {}", times, word);
  const double share = std::abs(ratio - 1);
  if (share < least) return {};
  return fmt::format("{:.{}f} % {}", 100 * share, share < 0.0995 ? 1 : 0, word);
}

/// `+-1.2 %`: the further end of a median's interval; "" where it has none.
std::string spread(const stats::MedianInterval& one) {
  if (!one.interval || one.median <= 0) return {};
  const double away = std::max(one.interval->high - one.median, one.median - one.interval->low) / one.median;
  return fmt::format("+-{:.{}f} %", 100 * away, away < 0.0995 ? 1 : 0);
}

/// ` [+8.4..+12 %]`, ` [6.5x..6.9x]` where the ratio itself is told as a factor.
std::string ends(const stats::Ratio& ratio) {
  if (!ratio.interval) return {};
  const Interval& interval = *ratio.interval;
  auto times = [](double low, double high) {
    return fmt::format(" [{:.{}f}x..{:.{}f}x]", low, low < 9.95 ? 1 : 0, high, high < 9.95 ? 1 : 0);
  };
  if (ratio.estimate >= 2) return times(interval.low, interval.high);
  if (ratio.estimate <= 0.5) return times(1 / interval.high, 1 / interval.low);
  auto percent = [](double end) { return fmt::format("{:+.1f}", 100 * (end - 1)); };
  return fmt::format(" [{}..{} %]", percent(interval.low), percent(interval.high));
}

std::string p_text(double p) {
  return p < 0.0001 ? "p<0.0001" : fmt::format("p={:.{}f}", p, p < 0.001 ? 4 : p < 0.0995 ? 3 : 2);
}

/// Repetitions or processes of each side: `n=10`, `n=10 and 9`; "" for one each.
std::string samples(const Comparison& row, bool is_judged) {
  const bool are_processes = is_judged && judge::samples_are_processes(row);
  auto count = [&](const WindowSummary& window) {
    return are_processes ? window.process_times_ns.size() : is_judged ? window.times_ns.size() : window.n;
  };
  const std::size_t old_n = count(*row.old_window);
  const std::size_t new_n = count(*row.new_window);
  if (old_n == 1 && new_n == 1) return {};
  return old_n == new_n ? fmt::format("n={}", old_n) : fmt::format("n={} and {}", old_n, new_n);
}

/// The evidence for a change: how far each median may be off, the number of samples, p, the verdict.
std::string judged_change(const Comparison& row, const TimeKind& kind) {
  const judge::TimeVerdict& time = *(row.*kind.verdict);
  // With noise the estimate and the medians may point in opposite directions. Then print only the interval, if any.
  const double medians = (row.new_window->*kind.numbers)->median - (row.old_window->*kind.numbers)->median;
  const bool has_answer = time.verdict != Verdict::inconclusive && time.verdict != Verdict::insufficient;
  const bool is_contradicted = (time.ratio->estimate - 1) * medians < 0 && !has_answer;
  const std::string change = is_contradicted ? "" : factor(time.ratio->estimate, time.ratio->interval ? 0.0005 : 0.01);
  std::string text = (change.empty() ? "" : ", " + change) + ends(*time.ratio) + " (";
  // The wall column has the spread and the number of samples; the cpu column does not repeat them.
  std::vector<std::string> evidence;
  if (kind.verdict == kWallTime.verdict) {
    const std::string old_spread = spread(*time.old_median);
    const std::string new_spread = spread(*time.new_median);
    if (!old_spread.empty() && !new_spread.empty()) evidence.push_back(old_spread + " -> " + new_spread);
    evidence.push_back(samples(row, true));
  }
  if (time.ratio->interval) evidence.push_back(p_text(*time.adjusted_p));
  evidence.emplace_back(judge::to_string(time.verdict));
  return text + fmt::format("{})", fmt::join(evidence, ", "));
}

/// True when a row's time belongs into the notes: the time of a single run of a test was not asked for.
bool is_told(const CompareResult& result, const Comparison& row, const TimeKind& kind) {
  const std::optional<judge::TimeVerdict>& time = row.*kind.verdict;
  return time && (result.gate.*kind.gate || row.is_plain || time->is_judged());
}

std::string counted(const CompareResult& result, const TimeKind& kind, Verdict verdict) {
  const auto times = std::count_if(result.rows.begin(), result.rows.end(), [&](const Comparison& row) {
    return is_told(result, row, kind) && (row.*kind.verdict)->verdict == verdict;
  });
  return times == 0 ? std::string() : fmt::format("{} {}", times, judge::to_string(verdict));
}

/// `times`, `cpu times`: a time without another word is the wall time.
std::string times_word(const TimeKind& kind) {
  return kind.verdict == kWallTime.verdict ? "times" : fmt::format("{} times", kind.title);
}

/// `times: 1 regressed, 1 same`; "" when no such time was judged.
std::string verdicts_line(const CompareResult& result, const TimeKind& kind) {
  std::string verdicts;
  for (Verdict verdict : {Verdict::regressed, Verdict::inconclusive, Verdict::insufficient, Verdict::incomparable,
                          Verdict::improved, Verdict::same}) {
    if (const std::string one = counted(result, kind, verdict); !one.empty()) {
      verdicts += (verdicts.empty() ? "" : ", ") + one;
    }
  }
  if (verdicts.empty()) return {};
  return fmt::format("{}: {}{}\n", times_word(kind), verdicts,
                     result.gate.*kind.gate ? "" : " (not gated: --gate time or all)");
}

std::string mean_line(const CompareResult& result, const TimeKind& kind) {
  std::vector<double> ratios;
  for (const Comparison& row : result.rows) {
    const std::optional<judge::TimeVerdict>& time = row.*kind.verdict;
    if (time && time->is_judged()) ratios.push_back(time->ratio->estimate);
  }
  if (ratios.size() < 2) return {};
  const double mean = stats::geometric_mean(ratios);
  const std::string change = factor(mean, 0.0005);
  return fmt::format("geomean of {} {}: {}\n", ratios.size(), times_word(kind), change.empty() ? "no change" : change);
}

}  // namespace

std::string time_cell(const Comparison& row, const TimeKind& kind, std::string_view titled_unit) {
  const auto time = [&]() -> std::optional<judge::TimeVerdict> {
    return row.is_paired() ? row.*kind.verdict : std::nullopt;
  }();
  const bool is_judged = time && time->is_judged();
  auto side = [&](const WindowSummary* window, const std::optional<stats::MedianInterval>& median) {
    const stats::Numbers& numbers = window->*kind.numbers;
    if (!numbers) return std::string(render::kNotMeasured);
    return fmt::format("{}{}", render::duration(is_judged ? median->median : numbers->median),
                       unit_beside(*window, titled_unit));
  };
  if (row.old_window == nullptr) return side(row.new_window, {});
  if (row.new_window == nullptr) return side(row.old_window, {});
  const std::string both =
      time ? side(row.old_window, time->old_median) + " -> " + side(row.new_window, time->new_median)
           : side(row.old_window, {}) + " -> " + side(row.new_window, {});
  if (is_judged) return both + judged_change(row, kind);
  if (time && !time->reason.empty() && time->verdict == Verdict::insufficient) return both + " (too short)";
  const std::string n = samples(row, time.has_value());
  return both + (n.empty() ? "" : " (" + n + ")");
}

bool has_cpu_column(const CompareResult& result, const std::vector<const Comparison*>& shown) {
  return std::any_of(shown.begin(), shown.end(), [&](const Comparison* row) {
    return row->cpu && row->cpu->ratio && (result.gate.cpu || row->cpu->ratio->interval);
  });
}

std::string time_totals(const CompareResult& result) {
  return verdicts_line(result, kWallTime) + verdicts_line(result, kCpuTime);
}

std::string time_notes(const CompareResult& result) {
  const std::string counted_cpu = verdicts_line(result, kCpuTime);
  std::string out = time_totals(result);
  if (out.empty()) return out;
  std::size_t needed = 0;
  std::size_t too_short = 0;
  bool has_repetitions = false;
  for (const Comparison& row : result.rows) {
    for (const TimeKind& kind : {kWallTime, kCpuTime}) {
      if (!is_told(result, row, kind)) continue;
      const judge::TimeVerdict& time = *(row.*kind.verdict);
      needed = std::max(needed, time.needed_n);
      has_repetitions = has_repetitions || (time.is_judged() && !judge::samples_are_processes(row));
    }
    if (row.cpu && !row.cpu->ratio && row.cpu->verdict == Verdict::insufficient) ++too_short;
  }
  if (needed != 0) {
    out += fmt::format("insufficient: with this many timed tests, each side needs n={} or more\n", needed);
  }
  if (too_short != 0 && !counted_cpu.empty()) {
    out += fmt::format("{} processor time{} too short for the steps of {} clock: not judged\n", too_short,
                       too_short == 1 ? " is" : "s are", too_short == 1 ? "its" : "their");
  }
  out += mean_line(result, kWallTime) + mean_line(result, kCpuTime);
  if (has_repetitions) {
    out += "a sample is a repetition in one process; two processes of one binary may differ by more: bench ab\n";
  }
  return out;
}

std::string kernel_split_text(const std::vector<const Comparison*>& shown, bool all, bool markdown, std::size_t width) {
  render::Table table({{"kernel time", render::Align::left, render::Cells::names, render::Shrinks::in_the_middle},
                       {"change", render::Align::right},
                       {"fewer or more calls", render::Align::right},
                       {"faster or slower calls", render::Align::right}});
  auto signed_duration = [](double ns) {
    return std::string(ns < 0 ? "-" : ns > 0 ? "+" : "") + render::duration(std::abs(ns));
  };
  for (const Comparison* one : shown) {
    const Comparison& row = *one;
    if (!row.is_paired() || row.old_window->n < 2 || row.new_window->n < 2) continue;
    const std::optional<judge::KernelSplit> split = judge::split_kernel_time(row);
    if (!split || (split->more_calls_ns == 0 && split->slower_calls_ns == 0)) continue;
    const double change_ns = split->more_calls_ns + split->slower_calls_ns;
    // A part below a hundredth of the wall time explains no change of it.
    const bool is_small = !row.old_window->wall_ns || std::abs(change_ns) < row.old_window->wall_ns->median / 100;
    if (!all && (is_small || !row.has_changes())) continue;
    table.add_row({row.name, signed_duration(change_ns), signed_duration(split->more_calls_ns),
                   signed_duration(split->slower_calls_ns)});
  }
  if (table.empty()) return {};
  return '\n' + (markdown ? table.markdown() : table.text(2, 4, width));
}

}  // namespace syscost::bench::commands
