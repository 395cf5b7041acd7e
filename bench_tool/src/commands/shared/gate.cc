// SPDX-License-Identifier: MIT
#include "commands/shared/gate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

using judge::Comparison;
using judge::Verdict;
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

/// Why NEW did not measure a window, of OLD or a new one. "" if it did, or if the window may be missing.
std::string_view not_measured(const Comparison& row, const cli::Gate& gate) {
  if (row.old_window == nullptr) {
    if (gate.allows_failed) return "";
    return has_outcome(*row.new_window, "failed") ? "failed" : has_ended_process(*row.new_window) ? "crashed" : "";
  }
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
  if (!row.is_plain && judge::has_no_answer(row.verdict)) return true;
  if (!gate.times() || !row.is_paired() || row.old_window->is_set_up()) return false;
  // One of the two clocks may show nothing, for example the processor time of a short test.
  const bool has_wall = gate.wall && row.time && !judge::has_no_answer(row.time->verdict);
  const bool has_cpu = gate.cpu && row.cpu && !judge::has_no_answer(row.cpu->verdict);
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

namespace {

constexpr std::size_t kMostUncompared = 5;

std::size_t count(const std::vector<const Comparison*>& rows, bool (*is)(const Comparison&)) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const Comparison* row) { return is(*row); }));
}

bool is_paired(const Comparison& row) {
  return row.is_paired() && !row.is_plain;
}

/// True for a test, a loop, a benchmark, a process or a GPU kernel that both sides ran.
bool is_timed(const Comparison& row) {
  static constexpr std::array<std::string_view, 5> kTimed = {"test", "loop", "benchmark", "process",
                                                             schema::kKindGpuKernel};
  return row.is_paired() && std::find(kTimed.begin(), kTimed.end(), row.old_window->kind) != kTimed.end();
}

/// True if its times are expected.
bool has_times_to_compare(const Comparison& row) {
  return is_timed(row) && row.verdict != judge::Verdict::errored;
}

bool lacks_times(const Comparison& row, const cli::Gate& gate) {
  const auto is_compared = [](const std::optional<judge::TimeVerdict>& time) {
    return time && time->verdict != judge::Verdict::incomparable;
  };
  return has_times_to_compare(row) && !(gate.wall && is_compared(row.time)) && !(gate.cpu && is_compared(row.cpu));
}

std::string_view why_no_times(const Comparison& row, const cli::Gate& gate) {
  const auto has_none = [&](const stats::WindowSummary& window) {
    return (!gate.wall || window.times_ns.empty()) && (!gate.cpu || window.cpu.times_ns.empty());
  };
  if (has_none(*row.new_window)) return has_none(*row.old_window) ? "neither side has one" : "NEW has none";
  return has_none(*row.old_window) ? "OLD has none" : "they were measured in different ways";
}

}  // namespace

std::vector<const Comparison*> pointers_to(const std::vector<Comparison>& rows) {
  std::vector<const Comparison*> pointers;
  for (const Comparison& row : rows) pointers.push_back(&row);
  return pointers;
}

bool is_not_compared(const Comparison& row) {
  return is_paired(row) && row.verdict == judge::Verdict::incomparable;
}

std::string not_compared(const std::vector<const Comparison*>& rows) {
  std::map<std::string, std::size_t> reasons;
  std::vector<std::string_view> named;
  for (const Comparison* row : rows) {
    if (!is_not_compared(*row)) continue;
    ++reasons[row->reason];
    if (named.size() < kMostUncompared) named.emplace_back(row->name);
  }
  if (reasons.empty()) return {};
  const auto most = std::max_element(reasons.begin(), reasons.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::size_t all = count(rows, is_paired);
  const std::size_t left_out = count(rows, is_not_compared);
  return fmt::format("{} of {} test{} could not be compared: {}{}: {}{}", left_out, all, all == 1 ? "" : "s",
                     most->first, reasons.size() == 1 ? "" : fmt::format(" ({} of them)", most->second),
                     fmt::join(named, ", "), left_out > kMostUncompared ? ", ..." : "");
}

std::string without_verdict(const std::vector<const Comparison*>& rows) {
  const std::size_t tests =
      count(rows, [](const Comparison& row) { return is_paired(row) && row.verdict == judge::Verdict::inconclusive; });
  return tests == 0 ? "" : fmt::format("{} test{} without a verdict", tests, tests == 1 ? "" : "s");
}

std::string in_doubt(const std::vector<const Comparison*>& rows) {
  const std::size_t tests =
      count(rows, [](const Comparison& row) { return is_paired(row) && row.verdict == judge::Verdict::in_doubt; });
  return tests == 0 ? "" : fmt::format("{} test{} in doubt", tests, tests == 1 ? "" : "s");
}

std::string accepted(const std::vector<const Comparison*>& rows) {
  const std::size_t tests = count(rows, [](const Comparison& row) { return row.verdict == judge::Verdict::accepted; });
  return tests == 0 ? "" : fmt::format("{} test{} accepted", tests, tests == 1 ? "" : "s");
}

bool has_any_test_pair(const std::vector<const Comparison*>& rows) {
  const auto is_test = [](const Comparison* row) {
    return must_be_there(row->old_window != nullptr ? *row->old_window : *row->new_window);
  };
  const bool has_tests = std::any_of(rows.begin(), rows.end(), is_test);
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Comparison* row) { return row->is_paired() && (!has_tests || is_test(row)); });
}

bool judged_nothing(const std::vector<const Comparison*>& rows) {
  const auto has_verdict = [](const Comparison& row) {
    return is_paired(row) && !row.old_window->is_set_up() && !row.is_let_off && !judge::has_no_answer(row.verdict);
  };
  const auto is_unjudged = [](const Comparison& row) {
    return is_paired(row) && row.verdict != Verdict::in_doubt && (row.is_let_off || judge::has_no_answer(row.verdict));
  };
  // A run of plain benchmarks has no counts: its times have verdicts of their own.
  const auto has_times_alone = [](const Comparison& row) { return row.is_paired() && row.is_plain; };
  return count(rows, is_unjudged) != 0 && count(rows, has_verdict) == 0 && count(rows, has_times_alone) == 0;
}

std::string times_not_compared(const std::vector<const Comparison*>& rows, const cli::Gate& gate) {
  std::vector<std::string_view> named;
  std::map<std::string_view, std::size_t> reasons;
  std::size_t left_out = 0;
  for (const Comparison* row : rows) {
    if (!lacks_times(*row, gate)) continue;
    ++left_out;
    ++reasons[why_no_times(*row, gate)];
    if (named.size() < kMostUncompared) named.emplace_back(row->name);
  }
  if (left_out == 0) return {};
  const auto most = std::max_element(reasons.begin(), reasons.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::size_t all = count(rows, has_times_to_compare);
  return fmt::format("the times of {} of {} test{} could not be compared: {}{}: {}{}", left_out, all,
                     all == 1 ? "" : "s", most->first,
                     reasons.size() == 1 ? "" : fmt::format(" ({} of them)", most->second), fmt::join(named, ", "),
                     left_out > kMostUncompared ? ", ..." : "");
}

std::string too_few_samples(const std::vector<const Comparison*>& rows, const cli::Gate& gate) {
  const auto has_few = [](const std::optional<judge::TimeVerdict>& time) {
    return time && time->verdict == Verdict::insufficient;
  };
  const bool is_any = std::any_of(rows.begin(), rows.end(), [&](const Comparison* row) {
    return has_times_to_compare(*row) && ((gate.wall && has_few(row->time)) || (gate.cpu && has_few(row->cpu)));
  });
  return is_any ? "no gated time can be red: too few samples, or too short for the clock" : "";
}

bool judged_no_time(const std::vector<const Comparison*>& rows, const cli::Gate& gate) {
  const auto is_judged = [](const std::optional<judge::TimeVerdict>& time) {
    return time && time->verdict != Verdict::incomparable && time->verdict != Verdict::insufficient;
  };
  const auto has_verdict = [&](const Comparison& row) {
    return has_times_to_compare(row) && ((gate.wall && is_judged(row.time)) || (gate.cpu && is_judged(row.cpu)));
  };
  return count(rows, is_timed) != 0 &&
         std::none_of(rows.begin(), rows.end(), [&](const Comparison* row) { return has_verdict(*row); });
}

std::string errors_not_compared(const std::vector<const Comparison*>& rows) {
  const std::size_t of_old = count(rows, [](const Comparison& row) { return row.lacks_errnos_of_old; });
  const std::size_t of_new = count(rows, [](const Comparison& row) { return row.lacks_errnos_of_new; });
  const std::size_t tests =
      count(rows, [](const Comparison& row) { return row.lacks_errnos_of_old || row.lacks_errnos_of_new; });
  if (tests == 0) return {};
  const std::string_view side = of_old == 0 ? "OLD" : of_new == 0 ? "NEW" : "one of the two";
  return fmt::format("which calls fail was measured in {} alone, so failed calls of {} test{} are not compared", side,
                     tests, tests == 1 ? "" : "s");
}

}  // namespace syscost::bench::commands
