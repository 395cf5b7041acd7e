// SPDX-License-Identifier: MIT
//
// compare for people: a table of what changed, the verdicts, and what to know about the times.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "commands/compare.h"
#include "render/table.h"
#include "render/units.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;
using stats::Numbers;
using stats::Verdict;
using stats::WindowSummary;

/// `862x faster`, `12 % slower`; "" within 1 %, and where nothing can be divided.
std::string factor(double old_ns, double new_ns) {
  if (old_ns <= 0 || new_ns <= 0) return {};
  const bool is_faster = new_ns < old_ns;
  const double ratio = is_faster ? old_ns / new_ns : new_ns / old_ns;
  const char* word = is_faster ? "faster" : "slower";
  if (ratio >= 9.95) return fmt::format(", {:.0f}x {}", ratio, word);
  if (ratio >= 2) return fmt::format(", {:.1f}x {}", ratio, word);
  const double share = 100 * std::abs(new_ns - old_ns) / old_ns;
  return share < 1 ? std::string() : fmt::format(", {:.0f} % {}", share, word);
}

std::string repetitions(const Comparison& row) {
  const std::size_t old_n = row.old_window->n;
  const std::size_t new_n = row.new_window->n;
  if (old_n == 1 && new_n == 1) return {};
  return old_n == new_n ? fmt::format(" (n={})", old_n) : fmt::format(" (n={} and {})", old_n, new_n);
}

/// A single run says something about its time only when the difference is gross, and the first use of everything falls
/// into set-ups.
std::string time_change(const Comparison& row) {
  const WindowSummary& old_window = *row.old_window;
  const WindowSummary& new_window = *row.new_window;
  if (!old_window.wall_ns || !new_window.wall_ns || old_window.is_set_up() || new_window.is_set_up()) return {};
  const double old_ns = old_window.wall_ns->median;
  const double new_ns = new_window.wall_ns->median;
  const bool is_single = old_window.n == 1 || new_window.n == 1;
  if (is_single && std::max(old_ns, new_ns) < 2 * std::min(old_ns, new_ns)) return {};
  return factor(old_ns, new_ns);
}

/// Says per cell what the column's title cannot say for all rows.
std::string per_call(const WindowSummary& window, bool is_titled) {
  return window.is_per_iteration && !is_titled ? "/call" : "";
}

std::string wall_cell(const Comparison& row, bool times_comparable, bool is_titled) {
  auto wall = [&](const WindowSummary* window) {
    return render::duration(window->wall_ns) + (window->wall_ns ? per_call(*window, is_titled) : "");
  };
  if (row.old_window == nullptr) return wall(row.new_window);
  if (row.new_window == nullptr) return wall(row.old_window);
  const bool has_unit = row.old_window->is_per_iteration == row.new_window->is_per_iteration;
  return wall(row.old_window) + " -> " + wall(row.new_window) + (times_comparable && has_unit ? time_change(row) : "") +
         repetitions(row);
}

std::string calls_cell(const Comparison& row, bool is_titled) {
  auto count = [&](const WindowSummary* window) {
    if (window == nullptr) return std::string();
    const Numbers& numbers = row.counts_entries || !window->calls ? window->entries : window->calls;
    return render::count(numbers) + (numbers ? per_call(*window, is_titled) : "");
  };
  std::string old_count = count(row.old_window);
  std::string new_count = count(row.new_window);
  const char* unit = row.counts_entries ? " entries" : "";
  if (row.old_window == nullptr) return new_count;
  if (row.new_window == nullptr || old_count == new_count) return old_count + unit;
  return old_count + " -> " + new_count + unit;
}

/// The untitled last column: what changed, and the verdict where the numbers do not speak for themselves.
std::string remark(const Comparison& row, const render::Paint& paint) {
  std::string text = breakdown(row);
  if (row.verdict == Verdict::improved) return paint.green(text);
  std::string word(stats::to_string(row.verdict));
  if (!row.reason.empty()) word += ": " + row.reason;
  if (!text.empty()) text += "  ";
  if (row.verdict == Verdict::regressed) return paint.red(text + word);
  return text + word;
}

/// `7.3 %`: how much of the wall time of a side's tests measuring added by the CSV's own estimates; nullopt where a
/// test has none.
std::optional<std::string> added_share(const std::vector<WindowSummary>& windows) {
  double overhead_ns = 0;
  double wall_ns = 0;
  for (const WindowSummary& window : windows) {
    if (window.is_set_up()) continue;
    if (!window.wall_ns || !window.overhead_ns) return std::nullopt;
    const double passes = window.is_per_iteration ? window.iterations->median : 1;
    overhead_ns += window.overhead_ns->median * passes;
    wall_ns += window.wall_ns->median * passes;
  }
  if (wall_ns <= 0) return std::nullopt;
  return fmt::format("{:.1f} %", 100 * overhead_ns / wall_ns);
}

/// What wall times were taken under: they are not those of an unmeasured run.
std::string taken_under(const CompareResult& result) {
  const auto old_share = added_share(result.old_windows);
  const auto new_share = added_share(result.new_windows);
  const std::string text = fmt::format(
      "wall: taken under {}", result.old_backend == result.new_backend
                                  ? result.old_backend
                                  : fmt::format("{} in OLD and {} in NEW", result.old_backend, result.new_backend));
  if (!old_share || !new_share) return text + "; what measuring added was not estimated for all of it";
  return fmt::format("{}; measuring added about {} of OLD's and {} of NEW's (estimated)", text, *old_share, *new_share);
}

std::string notes(const CompareResult& result, std::size_t hidden) {
  std::string out = verdict_line(result);
  if (hidden != 0) out += fmt::format(" ({} not shown: --all)", hidden);
  out += '\n';
  const bool has_single = std::any_of(result.rows.begin(), result.rows.end(), [](const Comparison& row) {
    return row.old_window != nullptr && row.new_window != nullptr && (row.old_window->n == 1 || row.new_window->n == 1);
  });
  out += taken_under(result) + '\n';
  if (has_single) out += "n=1: one run of a test says little about its time; --gtest_repeat=3 gives medians\n";
  return out;
}

/// True when every window of the rows that are shown is per pass of its body.
bool all_per_iteration(const CompareResult& result, bool all) {
  bool is_any_shown = false;
  for (const Comparison& row : result.rows) {
    if (!all && !row.has_changes()) continue;
    is_any_shown = true;
    for (const WindowSummary* window : {row.old_window, row.new_window}) {
      if (window != nullptr && !window->is_per_iteration) return false;
    }
  }
  return is_any_shown;
}

}  // namespace

std::string compare_text(const CompareResult& result, bool all, bool markdown, const render::Paint& paint) {
  std::string out;
  for (const std::string& warning : result.warnings) {
    out += paint.yellow("warning: " + warning) + (markdown ? "\n\n" : "\n");
  }
  if (!result.paired.empty()) out += "paired: " + result.paired + (markdown ? "\n\n" : "\n");
  const bool is_per_call = all_per_iteration(result, all);
  const char* wall = is_per_call ? "wall/call" : "wall";
  const char* calls = is_per_call ? "calls/call" : "calls";
  std::vector<render::TableColumn> columns = {{"test"}, {wall}, {calls}, {""}};
  if (markdown) columns = {{"test"}, {"verdict"}, {wall}, {calls}, {"change"}};
  render::Table table(columns);
  std::size_t hidden = 0;
  for (const Comparison& row : result.rows) {
    if (!all && !row.has_changes()) {
      ++hidden;
      continue;
    }
    std::vector<std::string> cells = {row.name, wall_cell(row, result.times_comparable, is_per_call),
                                      calls_cell(row, is_per_call)};
    if (markdown) {
      const std::string word(stats::to_string(row.verdict));
      cells.insert(cells.begin() + 1, row.verdict == Verdict::regressed ? "**" + word + "**" : word);
      cells.push_back(row.reason.empty() ? breakdown(row) : row.reason);
    } else {
      cells.push_back(remark(row, paint));
    }
    table.add_row(std::move(cells));
  }
  if (!table.empty()) out += markdown ? table.markdown() + '\n' : table.text(2, 4);
  return out + notes(result, hidden);
}

std::string breakdown(const Comparison& row) {
  std::string out;
  bool in_errnos = false;
  for (const stats::Delta& delta : row.deltas) {
    const bool is_errno = !delta.errno_name.empty();
    if (!out.empty()) out += is_errno && !in_errnos ? "; " : ", ";
    in_errnos = is_errno;
    const std::string& what = is_errno ? delta.errno_name : delta.syscall;
    if (delta.is_exact()) {
      const double change = delta.new_count.median - delta.old_count.median;
      out += fmt::format("{}{} {}", change > 0 ? '+' : '-', render::count(std::abs(change)), what);
    } else {  // a difference of medians would hide what varies
      out += fmt::format("{} {} -> {}", what, render::count(std::optional(delta.old_count)),
                         render::count(std::optional(delta.new_count)));
      if (delta.change == stats::Change::near) out += " (near)";
    }
    if (is_errno && delta.is_new_errno) out += fmt::format(" (new in {})", delta.syscall);
    if (delta.is_volatile) out += " (volatile)";
  }
  return out;
}

std::string verdict_line(const CompareResult& result) {
  // Bad news first.
  static constexpr std::array<Verdict, 9> kOrder = {Verdict::regressed,    Verdict::errored, Verdict::inconclusive,
                                                    Verdict::incomparable, Verdict::missing, Verdict::added,
                                                    Verdict::improved,     Verdict::near,    Verdict::same};
  std::string out;
  for (Verdict verdict : kOrder) {
    const auto times = std::count_if(result.rows.begin(), result.rows.end(),
                                     [&](const Comparison& row) { return row.verdict == verdict; });
    if (times != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", times, stats::to_string(verdict));
  }
  return out;
}

}  // namespace syscost::bench::commands
