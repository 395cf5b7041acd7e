// SPDX-License-Identifier: MIT
#include "commands/check_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "commands/compare.h"
#include "commands/not_compared.h"
#include "csv/printable.h"
#include "render/units.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;
using stats::Verdict;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The judge calls its sides OLD and NEW.
std::string reason_of(const Comparison& row) {
  return replaced(replaced(row.reason, "NEW", kCheckSides.now), "OLD", kCheckSides.before);
}

std::string calls_of(const Comparison& row, const stats::WindowSummary* window) {
  if (window == nullptr) return "";
  if (window->calls && !row.counts_entries) return render::count(window->calls);
  return render::count(window->entries) + (window->entries ? " entries" : "");
}

/// `1 regressed, 1 missing, 23 same`: bad news first.
std::string counts_line(const CheckResult& result) {
  std::map<std::string, std::size_t> red;
  std::map<std::string, std::size_t> others;
  for (const CheckedRow& row : result.rows) ++(is_red(row.comparison) ? red : others)[state_of(row.comparison)];
  std::vector<std::string> parts;
  for (const auto& [word, times] : red) parts.push_back(fmt::format("{} {}", times, word));
  for (const auto& [word, times] : others) {
    if (word != "same") parts.push_back(fmt::format("{} {}", times, word));
  }
  if (others.count("same") != 0) parts.push_back(fmt::format("{} same", others.at("same")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string calls_cell(const Comparison& row) {
  const std::string before = calls_of(row, row.old_window);
  std::string now = calls_of(row, row.new_window);
  if (row.old_window == nullptr || before == now) return now;
  return row.new_window == nullptr ? before : before + " -> " + now;
}

std::string change_cell(const Comparison& row) {
  const std::string change = breakdown(row);
  const std::string reason = reason_of(row);
  return change + (change.empty() || reason.empty() ? "" : "; ") + reason;
}

std::string state_of(const Comparison& row) {
  if (row.verdict == Verdict::errored && !is_red(row)) return "new";
  return std::string(stats::to_string(row.verdict));
}

std::string verdict_word(const CheckSettings& settings, const CheckResult& result) {
  static constexpr std::array<const char*, 3> kWords = {"ok", "red", "not judged"};
  return kWords[static_cast<std::size_t>(verdict_of(settings, result))];
}

std::string check_title(const CheckSettings& settings, const CheckResult& result) {
  std::string out = verdict_word(settings, result) + ": ";
  if (result.has_baseline) {
    const std::string left_out = not_compared(comparisons_of(result), kCheckSides);
    if (!left_out.empty()) out += left_out + "; ";
    out += fmt::format("{} (baseline {}, {} run{})", counts_line(result), csv::printable(result.baseline_file),
                       result.baseline.runs, result.baseline.runs == 1 ? "" : "s");
  }
  if (!result.lost.empty()) out += (result.has_baseline ? "; " : "") + result.lost.text();
  if (settings.budgets.empty()) return out;
  if (!result.has_baseline && !result.lost.empty()) out += "; ";
  const budgets::Judgement& judged = result.judgement;
  const auto failing = std::count_if(judged.exceeded.begin(), judged.exceeded.end(),
                                     [&](const budgets::Finding& one) { return settings.budgets[one.budget].fails; });
  const auto warned = static_cast<std::ptrdiff_t>(judged.exceeded.size()) - failing;
  out += fmt::format("{}limits: {} exceeded, {}{} kept", result.has_baseline ? "; " : "", failing,
                     warned == 0 ? "" : fmt::format("{} exceeded with a warning, ", warned), judged.kept);
  return out;
}

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

std::string check_notes(const CheckResult& result) {
  std::string out = result.further_runs.empty() ? "" : result.further_runs + '\n';
  if (!result.has_baseline) return out;
  if (const auto alarms = false_alarms(result)) out += alarms->text() + '\n';
  const bool has_difference = std::any_of(result.rows.begin(), result.rows.end(), [](const CheckedRow& row) {
    const Verdict verdict = row.comparison.verdict;
    return is_red(row.comparison) || verdict == Verdict::added || verdict == Verdict::improved ||
           verdict == Verdict::exchanged || verdict == Verdict::accepted;
  });
  if (has_difference) {
    const std::string how = result.command.empty() ? fmt::format("{} --update (or --accept TEST)", result.data.name)
                                                   : "--update -- " + csv::printable(result.command);
    out += fmt::format("if this is what you want: bench check {}, and commit {}\n", how,
                       csv::printable(result.baseline_file));
  }
  return out;
}

}  // namespace syscost::bench::commands
