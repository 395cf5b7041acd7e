// SPDX-License-Identifier: MIT
#include "commands/compare_ci.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "commands/gate.h"
#include "commands/site_text.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;
using stats::WindowSummary;

constexpr std::array<render::CiRule, 8> kCompareRules = {
    {{"counts", "A test makes more syscalls, or one fails that did not"},
     {"wall", "A test takes longer"},
     {"cpu", "A test uses more processor time"},
     {"missing", "A test of OLD is not in NEW"},
     {"failed", "A test fails that did not, so its cost is not known"},
     {"skipped", "A test is skipped that was not, so its cost is not known"},
     {"crashed", "A test or a program ended its process, so its cost is not known"},
     {"limit", "A limit is exceeded, or limits no test"}}};

const WindowSummary& window_of(const Comparison& row) {
  return row.new_window != nullptr ? *row.new_window : *row.old_window;
}

/// Why a row fails by `word`: `+99 write`, `wall 45.2 us -> 97.0 us, ...`.
std::string evidence(const Comparison& row, std::string_view word) {
  if (word == "counts") {
    const std::string lines = site_sentence(site_lines(row, kFewSiteLines));
    std::string text = "calls: " + breakdown(row);
    for (const std::string& more : {row.reason, lines}) text += (more.empty() ? "" : "; ") + more;
    return text;
  }
  if (word == "wall") return "wall: " + time_cell(row, kWallTime, "");
  if (word == "cpu") return "cpu: " + time_cell(row, kCpuTime, "");
  if (word == "missing") return "missing: OLD has it, and NEW does not";
  return fmt::format("{} in NEW, and not in OLD: what it costs is not known", word);
}

/// Why a row has no verdict.
std::string no_answer(const Comparison& row) {
  if (!stats::has_no_answer(row.verdict)) return "its times are not decided";
  return std::string(stats::to_string(row.verdict)) + (row.reason.empty() ? "" : ": " + row.reason);
}

}  // namespace

std::pair<std::string_view, std::string_view> ci_names(const Comparison& row) {
  const std::string_view name = row.name;
  const std::size_t dot = name.find('.');
  if (window_of(row).kind != "test" || dot == std::string_view::npos || name.find(" -> ") != std::string_view::npos) {
    return {window_of(row).kind, name};
  }
  return {name.substr(0, dot), name.substr(dot + 1)};
}

render::CiReport compare_ci(const CompareResult& result) {
  render::CiReport report{fmt::format("bench {}", result.command),
                          kCompareRules,
                          {},
                          result.warnings,
                          "verdict: " + result.conclusion.text};
  for (const Comparison& row : result.rows) {
    const auto [suite, test] = ci_names(row);
    render::CiCase one{row.name, std::string(suite), std::string(test), result.locations.find(row.name), {}, {}, {}};
    for (const std::string_view word : gate_failures(row, result.gate)) {
      one.failures.push_back({word, evidence(row, word), {}});
      if (word == "counts") one.failures.back().location = grown_line(row);
    }
    if (lacks_answer(row, result.gate)) one.no_answer = no_answer(row);
    if (row.verdict == stats::Verdict::accepted)
      one.accepted = fmt::format("accepted: {}; {}", breakdown(row), row.reason);
    report.cases.push_back(std::move(one));
  }
  if (!lost_programs(result).empty()) add_cases(result.lost, report);
  return report;
}

void add_cases(const ProgramFaults& lost, render::CiReport& report) {
  for (std::size_t i = 0; i < lost.names.size(); ++i) {
    render::CiCase one{lost.names[i], "program", lost.names[i], {}, {}, {}, {}};
    one.failures.push_back({i < lost.crashed ? "crashed" : "failed", lost.sentences[i], {}});
    report.cases.push_back(std::move(one));
  }
}

}  // namespace syscost::bench::commands
