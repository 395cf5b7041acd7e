// SPDX-License-Identifier: MIT
//
// check for people and machines: the verdict first, then what is red, then what to know.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "commands/check.h"
#include "commands/compare.h"
#include "commands/comparison_json.h"
#include "csv/printable.h"
#include "render/markdown.h"
#include "render/table.h"
#include "render/units.h"
#include "stats/false_alarms.h"

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
  return replaced(replaced(row.reason, "NEW", "the run"), "OLD", "the baseline");
}

std::string calls_of(const stats::WindowSummary* window) {
  return window == nullptr ? "" : render::count(window->calls ? window->calls : window->entries);
}

std::string calls_cell(const Comparison& row) {
  const std::string before = calls_of(row.old_window);
  const std::string now = calls_of(row.new_window);
  if (row.old_window == nullptr || before == now) return now;
  return row.new_window == nullptr ? before : before + " -> " + now;
}

std::string change_cell(const Comparison& row) {
  const std::string change = breakdown(row);
  const std::string reason = reason_of(row);
  return change + (change.empty() || reason.empty() ? "" : "; ") + reason;
}

/// What a reader has to look at: red rows first.
std::vector<const CheckedRow*> shown_rows(const CheckResult& result, bool all) {
  std::vector<const CheckedRow*> shown;
  for (const CheckedRow& row : result.rows) {
    if (is_red(row.comparison)) shown.push_back(&row);
  }
  for (const CheckedRow& row : result.rows) {
    if (is_red(row.comparison)) continue;
    if (all || (result.has_baseline && !is_as_before(row.comparison.verdict))) {
      shown.push_back(&row);
    }
  }
  return shown;
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

std::string verdict_word(const CheckSettings& settings, const CheckResult& result) {
  static constexpr std::array<const char*, 3> kWords = {"ok", "red", "not judged"};
  return kWords[static_cast<std::size_t>(verdict_of(settings, result))];
}

std::string title(const CheckSettings& settings, const CheckResult& result) {
  std::string out = verdict_word(settings, result) + ": ";
  if (result.has_baseline) {
    out += fmt::format("{} (baseline {}, {} run{})", counts_line(result), csv::printable(result.baseline_file),
                       result.baseline.runs, result.baseline.runs == 1 ? "" : "s");
  }
  if (settings.budgets.empty()) return out;
  const budgets::Judgement& judged = result.judgement;
  const auto failing = std::count_if(judged.exceeded.begin(), judged.exceeded.end(),
                                     [&](const budgets::Finding& one) { return settings.budgets[one.budget].fails; });
  const auto warned = static_cast<std::ptrdiff_t>(judged.exceeded.size()) - failing;
  out += fmt::format("{}limits: {} exceeded, {}{} kept", result.has_baseline ? "; " : "", failing,
                     warned == 0 ? "" : fmt::format("{} exceeded with a warning, ", warned), judged.kept);
  return out;
}

/// What a budget's lines are: where it stands, what it says of which test, and why it is there.
struct BudgetLine {
  bool fails;
  std::string where, test, title, value, limit, reason;
};

std::vector<BudgetLine> budget_lines(const CheckSettings& settings, const CheckResult& result) {
  std::vector<BudgetLine> lines;
  for (const budgets::Finding& one : result.judgement.exceeded) {
    const budgets::Budget& budget = settings.budgets[one.budget];
    const std::string of = one.of.empty() ? budget.title() : fmt::format("{} of {}", budget.measure->name, one.of);
    lines.push_back({budget.fails, budget.where, one.test, of, one.value, one.limit, budget.reason});
  }
  for (const auto* list : {&result.judgement.unmatched, &result.judgement.unjudged}) {
    for (const auto& [index, why] : *list) {
      const budgets::Budget& budget = settings.budgets[index];
      lines.push_back({budget.fails, budget.where, fmt::format("{}", fmt::join(budget.tests, ", ")), budget.title(), "",
                       why, budget.reason});
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

std::optional<stats::FalseAlarms> false_alarms(const CheckResult& result) {
  if (!result.baseline.tests_that_departed) return std::nullopt;
  return stats::FalseAlarms{result.baseline.runs, *result.baseline.tests_that_departed};
}

std::string notes(const CheckResult& result) {
  std::string out = result.confirmation;
  if (!result.has_baseline) return out;
  if (const auto alarms = false_alarms(result)) out += alarms->text() + '\n';
  const bool has_difference = std::any_of(result.rows.begin(), result.rows.end(), [](const CheckedRow& row) {
    return is_red(row.comparison) || row.comparison.verdict == Verdict::added ||
           row.comparison.verdict == Verdict::improved;
  });
  if (has_difference) {
    out += fmt::format("if this is what you want: bench check {} --update, and commit {}\n", result.data.name,
                       csv::printable(result.baseline_file));
  }
  return out;
}

}  // namespace

std::string state_of(const Comparison& row) {
  if (row.verdict == Verdict::errored && !is_red(row)) return "new";
  return std::string(stats::to_string(row.verdict));
}

std::string check_text(const CheckSettings& settings, const CheckResult& result, bool all, const render::Paint& paint) {
  const std::string first = title(settings, result);
  std::string out = verdict_of(settings, result) == CheckVerdict::ok ? paint.green(first) : paint.red(first);
  out += '\n';
  for (const std::string& warning : result.warnings) out += paint.yellow("warning: " + warning) + '\n';
  render::Table table({{"test"}, {"verdict"}, {"calls"}, {"change"}});
  for (const CheckedRow* row : shown_rows(result, all)) {
    const Comparison& one = row->comparison;
    const std::string state = state_of(one);
    table.add_row({one.name, is_red(one) ? paint.red(state) : state, calls_cell(one), change_cell(one)});
  }
  if (!table.empty()) out += table.text();
  render::Table budgets({{"test"}, {"limit"}, {"is"}, {"may be"}, {"because"}, {"stated in"}});
  for (const BudgetLine& line : budget_lines(settings, result)) {
    budgets.add_row(
        {line.test, line.title, line.fails ? paint.red(line.value) : line.value, line.limit, line.reason, line.where});
  }
  if (!budgets.empty()) out += (table.empty() ? "" : "\n") + budgets.text();
  return out + notes(result);
}

std::string check_markdown(const CheckSettings& settings, const CheckResult& result, bool all) {
  std::string out = "### " + render::escaped_markdown(title(settings, result)) + "\n\n";
  for (const std::string& warning : result.warnings) out += render::escaped_markdown("warning: " + warning) + "\n\n";
  render::Table table({{"test", render::Align::left, render::Cells::names},
                       {"verdict", render::Align::left, render::Cells::markdown},
                       {"calls"},
                       {"change"}});
  for (const CheckedRow* row : shown_rows(result, all)) {
    const Comparison& one = row->comparison;
    const std::string state = state_of(one);
    table.add_row({one.name, is_red(one) ? "**" + state + "**" : state, calls_cell(one), change_cell(one)});
  }
  if (!table.empty()) out += table.markdown() + '\n';
  render::Table budgets({{"test", render::Align::left, render::Cells::names},
                         {"limit"},
                         {"is"},
                         {"may be"},
                         {"because"},
                         {"stated in", render::Align::left, render::Cells::names}});
  for (const BudgetLine& line : budget_lines(settings, result)) {
    budgets.add_row({line.test, line.title, line.value, line.limit, line.reason, line.where});
  }
  if (!budgets.empty()) out += budgets.markdown() + '\n';
  return out + render::escaped_lines(notes(result));
}

std::string check_json(const CheckSettings& settings, const CheckResult& result) {
  using render::Json;
  Json tests = Json::array();
  for (const CheckedRow& row : result.rows) {
    Json one = comparison_json(row.comparison);
    one["gate"] = is_red(row.comparison) ? "red" : "green";
    tests.push_back(std::move(one));
  }
  Json exceeded = Json::array();
  for (const BudgetLine& line : budget_lines(settings, result)) {
    exceeded.push_back({{"gate", line.fails ? "red" : "green"},
                        {"test", line.test},
                        {"limit", line.title},
                        {"is", line.value},
                        {"may_be", line.limit},
                        {"reason", line.reason},
                        {"where", line.where}});
  }
  Json surroundings = Json::object();
  for (const auto& [name, value] : result.baseline.surroundings) surroundings[name] = value;
  Json alarms = nullptr;
  if (const auto estimate = false_alarms(result)) {
    alarms = {{"expected", estimate->expected()}, {"at_most", estimate->at_most()}, {"departed", estimate->departed}};
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "check"},
                       {"verdict", verdict_word(settings, result)},
                       {"baseline",
                        {{"file", result.baseline_file},
                         {"runs", result.baseline.runs},
                         {"surroundings", std::move(surroundings)},
                         {"false_alarms", std::move(alarms)}}},
                       {"run", render::source_json(result.data)},
                       {"warnings", result.warnings},
                       {"budgets", {{"kept", result.judgement.kept}, {"exceeded", std::move(exceeded)}}},
                       {"confirmation", result.confirmation},
                       {"tests", std::move(tests)}});
}

}  // namespace syscost::bench::commands
