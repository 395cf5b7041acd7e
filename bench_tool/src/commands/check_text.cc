// SPDX-License-Identifier: MIT
//
// check for people and machines: the verdict first, then what is red, then what to know.
#include <fmt/format.h>

#include <sstream>

#include "commands/causes.h"
#include "commands/check_words.h"
#include "commands/comparison_json.h"
#include "commands/site_json.h"
#include "csv/printable.h"
#include "render/markdown.h"
#include "render/size_cap.h"
#include "render/table.h"
#include "render/text_width.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;

/// Null if the lines are not known.
render::Json budget_sites_json(const BudgetLine& line) {
  if (line.sites.empty()) return nullptr;
  render::Json sites = render::Json::array();
  for (const SiteLine& one : line.sites) {
    if (!one.site) continue;
    sites.push_back(site_json(*one.site));
    sites.back()["syscall"] = one.count;
    sites.back()["share"] = one.amount;
  }
  return sites;
}

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
  const bool fits = width == 0 || whole.width(2, 2) <= width;
  // If the table is too wide, what changed stands below its test. Lines of the program always do.
  std::istringstream lines(fits ? whole.text() : narrow.text(2, 2, width));
  std::string out;
  std::string line;
  std::getline(lines, line);
  out += line + '\n';
  for (const CheckedRow* row : shown) {
    std::getline(lines, line);
    out += line + '\n';
    const std::string change = change_cell(row->comparison);
    if (!fits && !change.empty()) out += render::wrapped("    " + change, width, 0) + '\n';
    out += site_block(site_lines(row->comparison, kFewSiteLines, kRunSide), width);
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
    sentences += render::wrapped(test + ": " + sentence_of(one), width, 4) + '\n' + site_block(one.sites, width);
  }
  if (table.empty()) return {};
  if (width != 0 && table.width(2, 2) > width) return sentences;
  std::istringstream lines(table.text());
  std::string out;
  std::string line;
  std::getline(lines, line);
  out += line + '\n';
  for (const BudgetLine& one : limits) {
    std::getline(lines, line);
    out += line + '\n' + site_block(one.sites, width);
  }
  return out;
}

}  // namespace

std::string check_text(const CheckSettings& settings, const CheckResult& result, bool all, const render::Paint& paint,
                       std::size_t width) {
  const auto wrapped = [width](const std::string& text) { return render::wrapped(text, width, 2); };
  const std::string first = wrapped(check_title(settings, result));
  std::string out = verdict_of(settings, result) == CheckVerdict::ok ? paint.green(first) : paint.red(first);
  out += '\n';
  out += causes_text(causes_of(red_rows(result), {.counts = true}), width);
  for (const std::string& warning : result.warnings) out += paint.yellow(wrapped("warning: " + warning)) + '\n';
  if (!settings.count_rules.empty()) out += wrapped(settings.count_rules) + '\n';
  std::vector<const CheckedRow*> shown = shown_rows(result, all);
  std::string left_out;
  // The causes above the table say what many tests have in common.
  if (!all && red_rows(result).size() > kMostRowsWithCauses) {
    left_out = fmt::format("{} more: --all\n", shown.size() - kMostRowsWithCauses);
    shown.resize(kMostRowsWithCauses);
  }
  const std::string tests = test_table(shown, paint, width) + left_out;
  const std::string limits = limit_table(budget_lines(settings, result), paint, width);
  return out + tests + (tests.empty() || limits.empty() ? "" : "\n") + limits + wrapped(check_notes(result));
}

std::string check_markdown(const CheckSettings& settings, const CheckResult& result, bool all, std::size_t most_bytes) {
  std::string out = "### " + render::escaped_markdown(check_title(settings, result)) + "\n\n";
  out += causes_markdown(causes_of(red_rows(result), {.counts = true}));
  for (const std::string& warning : result.warnings) out += render::escaped_markdown("warning: " + warning) + "\n\n";
  if (!settings.count_rules.empty()) out += render::escaped_markdown(settings.count_rules) + "\n\n";
  render::Table table({{"test", render::Align::left, render::Cells::names},
                       {"verdict", render::Align::left, render::Cells::markdown},
                       {"calls"},
                       {"change"}});
  std::vector<std::string> names;
  std::vector<std::vector<SiteLine>> lines;
  for (const CheckedRow* row : shown_rows(result, all)) {
    const Comparison& one = row->comparison;
    const std::string state = state_of(one);
    names.push_back(one.name);
    lines.push_back(site_lines(one, kFewSiteLines, kRunSide));
    table.add_row({one.name, is_red(one) ? "**" + state + "**" : state, calls_cell(one), change_cell(one)});
  }
  if (!table.empty()) out += table.markdown() + '\n' + site_list(names, lines);
  render::Table budgets({{"test", render::Align::left, render::Cells::names},
                         {"limit"},
                         {"is"},
                         {"may be"},
                         {"because"},
                         {"stated in", render::Align::left, render::Cells::names}});
  names.clear();
  lines.clear();
  for (const BudgetLine& line : budget_lines(settings, result)) {
    budgets.add_row({line.test, line.title, line.value, line.limit, line.reason, line.where});
    names.push_back(line.test);
    lines.push_back(line.sites);
  }
  if (!budgets.empty()) out += budgets.markdown() + '\n' + site_list(names, lines);
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
                        {"where", line.where},
                        {"sites", budget_sites_json(line)}});
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
                       {"causes", causes_json(causes_of(red_rows(result), {.counts = true}))},
                       {"baseline",
                        {{"file", result.baseline_file},
                         {"runs", result.baseline.runs},
                         {"surroundings", std::move(surroundings)},
                         {"false_alarms", std::move(alarms)}}},
                       {"run", render::source_json(result.data)},
                       {"warnings", result.warnings},
                       {"count_rules", settings.count_rules.empty() ? Json() : Json(settings.count_rules)},
                       {"budgets", {{"kept", result.judgement.kept}, {"exceeded", std::move(exceeded)}}},
                       {"further_runs", result.further_runs.empty() ? Json() : Json(result.further_runs)},
                       {"tests", std::move(tests)}});
}

}  // namespace syscost::bench::commands
