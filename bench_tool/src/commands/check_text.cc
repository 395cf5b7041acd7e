// SPDX-License-Identifier: MIT
//
// check for people and machines: the verdict first, then what is red, then what to know.
#include <fmt/format.h>

#include <sstream>

#include "commands/check_words.h"
#include "commands/comparison_json.h"
#include "csv/printable.h"
#include "render/markdown.h"
#include "render/size_cap.h"
#include "render/table.h"
#include "render/text_width.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;

/// The rows that need attention, red ones first.
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

std::string test_table(const std::vector<const CheckedRow*>& shown, const render::Paint& paint, std::size_t width) {
  const std::vector<render::TableColumn> columns = {
      {"test", render::Align::left, render::Cells::names, render::Shrinks::in_the_middle}, {"verdict"}, {"calls"}};
  std::vector<render::TableColumn> all_columns = columns;
  all_columns.push_back({"change"});
  render::Table whole(all_columns);
  render::Table narrow(columns);
  for (const CheckedRow* row : shown) {
    const Comparison& one = row->comparison;
    const std::string state = is_red(one) ? paint.red(state_of(one)) : state_of(one);
    whole.add_row({one.name, state, calls_cell(one), change_cell(one)});
    narrow.add_row({one.name, state, calls_cell(one)});
  }
  if (whole.empty()) return {};
  if (width == 0 || whole.width(2, 2) <= width) return whole.text();
  // What changed stands below its test.
  std::istringstream lines(narrow.text(2, 2, width));
  std::string out;
  std::string line;
  std::getline(lines, line);
  out += line + '\n';
  for (const CheckedRow* row : shown) {
    std::getline(lines, line);
    out += line + '\n';
    const std::string change = change_cell(row->comparison);
    if (!change.empty()) out += render::wrapped("    " + change, width, 0) + '\n';
  }
  return out;
}

std::string limit_table(const std::vector<BudgetLine>& limits, const render::Paint& paint, std::size_t width) {
  render::Table table({{"test"}, {"limit"}, {"is"}, {"may be"}, {"because"}, {"stated in"}});
  std::string sentences;
  for (const BudgetLine& one : limits) {
    table.add_row(
        {one.test, one.title, one.fails ? paint.red(one.value) : one.value, one.limit, one.reason, one.where});
    const std::string test = one.fails ? paint.red(one.test) : one.test;
    sentences += render::wrapped(test + ": " + sentence_of(one), width, 4) + '\n';
  }
  if (table.empty()) return {};
  return width == 0 || table.width(2, 2) <= width ? table.text() : sentences;
}

}  // namespace

std::string check_text(const CheckSettings& settings, const CheckResult& result, bool all, const render::Paint& paint,
                       std::size_t width) {
  const auto wrapped = [width](const std::string& text) { return render::wrapped(text, width, 2); };
  const std::string first = wrapped(check_title(settings, result));
  std::string out = verdict_of(settings, result) == CheckVerdict::ok ? paint.green(first) : paint.red(first);
  out += '\n';
  for (const std::string& warning : result.warnings) out += paint.yellow(wrapped("warning: " + warning)) + '\n';
  if (!settings.count_rules.empty()) out += wrapped(settings.count_rules) + '\n';
  const std::string tests = test_table(shown_rows(result, all), paint, width);
  const std::string limits = limit_table(budget_lines(settings, result), paint, width);
  return out + tests + (tests.empty() || limits.empty() ? "" : "\n") + limits + wrapped(check_notes(result));
}

std::string check_markdown(const CheckSettings& settings, const CheckResult& result, bool all, std::size_t most_bytes) {
  std::string out = "### " + render::escaped_markdown(check_title(settings, result)) + "\n\n";
  for (const std::string& warning : result.warnings) out += render::escaped_markdown("warning: " + warning) + "\n\n";
  if (!settings.count_rules.empty()) out += render::escaped_markdown(settings.count_rules) + "\n\n";
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
  return render::capped_markdown(out + render::escaped_lines(check_notes(result)), most_bytes);
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
                       {"count_rules", settings.count_rules.empty() ? Json() : Json(settings.count_rules)},
                       {"budgets", {{"kept", result.judgement.kept}, {"exceeded", std::move(exceeded)}}},
                       {"confirmation", result.confirmation},
                       {"tests", std::move(tests)}});
}

}  // namespace syscost::bench::commands
