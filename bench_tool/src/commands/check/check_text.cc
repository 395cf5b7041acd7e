// SPDX-License-Identifier: MIT
//
// check for people and machines: what compare prints of the tests, with the budgets below.

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "commands/check/check.h"
#include "commands/compare/causes.h"
#include "commands/compare/compare_machine.h"
#include "commands/shared/gate.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

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
  if (width != 0 && table.width(2, 2) > width) return '\n' + sentences;
  std::istringstream lines(table.text());
  std::string out = "\n";
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

std::string check_text(const CheckSettings& settings, const CheckResult& result, const CompareResult& compared,
                       const cli::Options& options, const render::Paint& paint) {
  const std::size_t width = options.screen.width;
  const std::string below = limit_table(budget_lines(settings, result), paint, width) +
                            render::wrapped(check_notes(result, compared), width, 2);
  cli::Options above = options;
  const auto lines = static_cast<std::size_t>(std::count(below.begin(), below.end(), '\n'));
  if (above.screen.height != 0) above.screen.height = std::max(above.screen.height, lines + 1) - lines;
  return compare_text(compared, above, paint) + below;
}

std::string check_markdown(const CheckSettings& settings, const CheckResult& result, const CompareResult& compared,
                           bool all, std::size_t most_bytes) {
  render::Table budgets({{"test", render::Align::left, render::Cells::names},
                         {"limit"},
                         {"is"},
                         {"may be"},
                         {"because"},
                         {"stated in", render::Align::left, render::Cells::names}});
  std::vector<std::string> names;
  std::vector<std::vector<SiteLine>> lines;
  for (const BudgetLine& line : budget_lines(settings, result)) {
    budgets.add_row({line.test, line.title, line.value, line.limit, line.reason, line.where});
    names.push_back(line.test);
    lines.push_back(line.sites);
  }
  std::string below = budgets.empty() ? "" : budgets.markdown() + '\n' + site_list(names, lines);
  below += render::escaped_lines(check_notes(result, compared));
  return compare_markdown(compared, all, most_bytes, below);
}

std::string check_json(const CheckSettings& settings, const CheckResult& result, const CompareResult& compared) {
  using render::Json;
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
                       {"verdict", compared.conclusion.word()},
                       {"exit_code", compared.conclusion.exit_code},
                       {"causes", causes_json(causes_of(failing_rows(compared), compared.gate))},
                       {"baseline",
                        {{"file", result.baseline_file},
                         {"runs", result.baseline.runs},
                         {"surroundings", std::move(surroundings)},
                         {"false_alarms", std::move(alarms)}}},
                       {"run", render::source_json(result.data)},
                       {"warnings", compared.warnings},
                       {"count_rules", compared.count_rules.empty() ? Json() : Json(compared.count_rules)},
                       {"budgets", {{"kept", result.judgement.kept}, {"exceeded", std::move(exceeded)}}},
                       {"further_runs", compared.further_runs.empty() ? Json() : Json(compared.further_runs)},
                       {"tests", tests_json(compared)}});
}

}  // namespace syscost::bench::commands
