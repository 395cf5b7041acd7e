// SPDX-License-Identifier: MIT
#include "commands/check_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "csv/printable.h"

namespace syscost::bench::commands {

using stats::Verdict;

std::vector<BudgetLine> budget_lines(const CheckSettings& settings, const CheckResult& result) {
  std::vector<BudgetLine> lines;
  for (const budgets::Finding& one : result.judgement.exceeded) {
    const budgets::Budget& budget = settings.budgets[one.budget];
    const std::string of = one.of.empty() ? budget.title() : fmt::format("{} of {}", budget.measure->name, one.of);
    lines.push_back({budget.fails, true, budget.where, one.test, of, one.value, one.limit, budget.reason,
                     budget_sites(budget, one, result, kFewSiteLines)});
  }
  for (const auto* list : {&result.judgement.unmatched, &result.judgement.unjudged}) {
    for (const auto& [index, why] : *list) {
      const budgets::Budget& budget = settings.budgets[index];
      lines.push_back({budget.fails, list == &result.judgement.unmatched, budget.where, budget.tests.text(),
                       budget.title(), "", why, budget.reason});
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const BudgetLine& a, const BudgetLine& b) { return a.fails && !b.fails; });
  for (BudgetLine& line : lines) {
    for (std::string* text : {&line.where, &line.test, &line.title, &line.limit, &line.reason}) {
      *text = csv::printable(*text);
    }
    if (!line.fails) line.where += ", warning";
  }
  return lines;
}

std::string sentence_of(const BudgetLine& line) {
  std::string text = line.title;
  if (!line.value.empty()) text += " is " + line.value + ", and may be";
  text += (line.value.empty() ? ": " : " ") + line.limit;
  if (!line.reason.empty()) text += "; " + line.reason;
  return fmt::format("{} ({})", text, line.where);
}

std::optional<stats::FalseAlarms> false_alarms(const CheckResult& result) {
  if (!result.baseline.tests_that_departed) return std::nullopt;
  return stats::FalseAlarms{result.baseline.runs, *result.baseline.tests_that_departed};
}

std::string check_notes(const CheckResult& result, const CompareResult& compared) {
  if (!result.has_baseline) return {};
  std::string out;
  if (const auto alarms = false_alarms(result)) out += alarms->text() + '\n';
  const bool has_difference = compared.failing != 0 || !result.lost.empty() ||
                              std::any_of(compared.rows.begin(), compared.rows.end(), [](const stats::Comparison& row) {
                                return row.verdict == Verdict::added || row.verdict == Verdict::improved ||
                                       row.verdict == Verdict::exchanged || row.verdict == Verdict::accepted;
                              });
  if (has_difference && result.lost.command.empty()) {
    const std::string how = result.command.empty() ? fmt::format("{} --update (or --accept TEST)", result.data.name)
                                                   : "--update -- " + csv::printable(result.command);
    out += fmt::format("if this is what you want: bench check {}, and commit {}\n", how,
                       csv::printable(result.baseline_file));
  }
  return out;
}

}  // namespace syscost::bench::commands
