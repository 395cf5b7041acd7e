// SPDX-License-Identifier: MIT
#include "commands/gate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace syscost::bench::commands {
namespace {

using stats::Comparison;
using stats::Verdict;
using stats::WindowSummary;

/// True for windows that each run has. The code around a scope may skip it, and a suite's set-up without syscalls has
/// no rows.
bool must_be_there(const WindowSummary& window) {
  return window.kind == "test" || window.kind == "benchmark" || window.kind == "loop";
}

bool has_outcome(const WindowSummary& window, std::string_view word) {
  return window.outcomes.count(word) != 0;
}

/// A test without an outcome ended its process: by exit(), for one.
bool has_ended_process(const WindowSummary& window) {
  if (window.kind != "test") return false;
  std::size_t known = 0;
  for (const auto& [outcome, times] : window.outcomes) known += times;
  return known < window.n;
}

/// Why NEW did not measure a window of OLD. "" if it did, or if the window may be missing.
std::string_view not_measured(const Comparison& row, const cli::Gate& gate) {
  if (row.old_window == nullptr) return "";
  if (row.new_window == nullptr) return must_be_there(*row.old_window) && !gate.allows_missing ? "missing" : "";
  if (row.is_let_off || has_outcome(*row.old_window, "failed") || has_ended_process(*row.old_window)) return "";
  if (has_outcome(*row.new_window, "failed")) return gate.allows_failed ? "" : "failed";
  if (has_outcome(*row.old_window, "skipped")) return "";  // nothing is lost
  if (has_outcome(*row.new_window, "skipped")) return gate.allows_skipped ? "" : "skipped";
  return has_ended_process(*row.new_window) && !gate.allows_failed ? "crashed" : "";
}

}  // namespace

std::vector<std::string_view> gate_failures(const Comparison& row, const cli::Gate& gate) {
  if (gate.is_off()) return {};
  if (const std::string_view fault = not_measured(row, gate); !fault.empty()) return {fault};
  std::vector<std::string_view> by;
  // The verdict of a row without counts is that of its times.
  if (gate.counts && !row.is_plain && row.verdict == Verdict::regressed) by.emplace_back("counts");
  if (gate.wall && row.has_wall_verdict(Verdict::regressed)) by.emplace_back("wall");
  if (gate.cpu && row.has_cpu_verdict(Verdict::regressed)) by.emplace_back("cpu");
  return by;
}

bool lacks_answer(const Comparison& row, const cli::Gate& gate) {
  if (!row.is_plain && stats::has_no_answer(row.verdict)) return true;
  if (!gate.times() || !row.is_paired() || row.old_window->is_set_up()) return false;
  // One of the two clocks may show nothing, for example the processor time of a short test.
  const bool has_wall = gate.wall && row.time && !stats::has_no_answer(row.time->verdict);
  const bool has_cpu = gate.cpu && row.cpu && !stats::has_no_answer(row.cpu->verdict);
  return !has_wall && !has_cpu;
}

std::vector<std::string_view> gated_measures(const cli::Gate& gate) {
  std::vector<std::string_view> words;
  if (gate.counts) words.emplace_back("counts");
  if (gate.wall) words.emplace_back("wall");
  if (gate.cpu) words.emplace_back("cpu");
  return words;
}

std::string gate_line(const std::vector<Comparison>& rows, const cli::Gate& gate) {
  if (gate.is_off()) return "gate: none";
  static constexpr std::array<std::string_view, 7> kWords = {"counts", "wall",    "cpu",    "missing",
                                                             "failed", "skipped", "crashed"};
  std::array<std::size_t, kWords.size()> times{};
  std::size_t failing = 0;
  for (const Comparison& row : rows) {
    const std::vector<std::string_view> by = gate_failures(row, gate);
    failing += by.empty() ? 0 : 1;
    for (const std::string_view word : by) ++times[std::find(kWords.begin(), kWords.end(), word) - kWords.begin()];
  }
  if (failing == 0) return fmt::format("gate: no test fails ({})", fmt::join(gated_measures(gate), ", "));
  std::string line;
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (times[i] == 0) continue;
    line += fmt::format("{}{} {}{}", line.empty() ? "" : ", ", times[i], i < 3 ? "by " : "", kWords[i]);
  }
  line = fmt::format("gate: {} test{}: {}", failing, failing == 1 ? " fails" : "s fail", line);
  const auto of_old = std::count_if(rows.begin(), rows.end(), [](const Comparison& row) {
    return row.old_window != nullptr && must_be_there(*row.old_window);
  });
  const std::size_t missing = times[std::find(kWords.begin(), kWords.end(), "missing") - kWords.begin()];
  if (missing == 0) return line;
  return line + fmt::format("; NEW ran {} of {} tests of OLD", static_cast<std::size_t>(of_old) - missing, of_old);
}

}  // namespace syscost::bench::commands
