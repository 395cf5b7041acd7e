// SPDX-License-Identifier: MIT
//
// The words of check, beside those of compare: limits, the lines of the program that reach them, and the cases for CI
// systems.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "commands/check/check.h"
#include "commands/compare/compare.h"
#include "commands/shared/site_text.h"
#include "csv/text.h"
#include "stats/sites.h"

namespace syscost::bench::commands {

using judge::Verdict;

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

std::optional<judge::FalseAlarms> false_alarms(const CheckResult& result) {
  if (!result.baseline.tests_that_departed) return std::nullopt;
  return judge::FalseAlarms{result.baseline.runs, *result.baseline.tests_that_departed};
}

std::string check_notes(const CheckResult& result, const CompareResult& compared) {
  if (!result.has_baseline) return {};
  std::string out;
  if (const auto alarms = false_alarms(result)) out += alarms->text() + '\n';
  const bool has_difference = compared.failing != 0 ||
                              std::any_of(compared.rows.begin(), compared.rows.end(), [](const judge::Comparison& row) {
                                return row.verdict == Verdict::added || row.verdict == Verdict::improved ||
                                       row.verdict == Verdict::exchanged || row.verdict == Verdict::accepted;
                              });
  if (has_difference && programs_cut_short(result).empty()) {
    const std::string how = result.command.empty() ? fmt::format("{} --update (or --accept TEST)", result.data.name)
                                                   : "--update -- " + csv::printable(result.command);
    out += fmt::format("if this is what you want: bench check {}, and commit {}\n", how,
                       csv::printable(result.baseline_file));
  }
  return out;
}

// Which lines of the program reach a budget that is exceeded.

namespace {

using stats::SiteTotal;

bool is_within(const budgets::Budget& budget, const budgets::Finding& finding, const CheckResult& result,
               const CheckedRow& row) {
  if (!row.run_index) return false;
  if (budget.per == budgets::Per::test) return row.comparison.name == finding.test;
  const stats::WindowSummary& window = result.windows[*row.run_index];
  const std::string name = model::base_name(result.data, result.groups[*row.run_index]);
  // The windows that budgets::judge() adds up.
  if (window.is_per_iteration || window.kind == "scope") return false;
  if (!budget.matches(window.kind, name, window.program)) return false;
  return budget.per != budgets::Per::program || window.program == finding.test;
}

/// Returns the part of the measure that a line has; nullopt if it has none, or if it is not known.
std::optional<std::uint64_t> part_of(const SiteTotal& one, std::string_view measure, const std::string& of) {
  if (measure == "calls") return one.calls;
  if (measure == "kernel") return one.kernel_ns;
  if ((measure == "errors" || measure == "new-errnos") && !one.errors) return std::nullopt;
  if (measure == "errors") {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : one.errnos) sum += count;
    return sum;
  }
  if (measure != "new-errnos") return std::nullopt;
  const std::size_t blank = of.rfind(' ');  // `openat ENOENT`
  if (blank == std::string::npos || one.syscall != of.substr(0, blank)) return std::nullopt;
  const auto found = one.errnos.find(of.substr(blank + 1));
  return found == one.errnos.end() ? std::optional<std::uint64_t>(0) : found->second;
}

}  // namespace

std::vector<SiteLine> budget_sites(const budgets::Budget& budget, const budgets::Finding& finding,
                                   const CheckResult& result, std::size_t most) {
  if (!result.data.has_sites) return {};
  stats::SiteTotals totals(result.data);
  for (const CheckedRow& row : result.rows) {
    if (is_within(budget, finding, result, row)) totals.add(result.groups[*row.run_index], budget.choice);
  }
  std::vector<std::pair<std::uint64_t, SiteTotal>> parts;
  double whole = 0;
  bool is_known = false;
  for (SiteTotal& one : totals.all()) {
    const std::optional<std::uint64_t> part = part_of(one, budget.measure->name, finding.of);
    if (!part || *part == 0) continue;
    is_known = is_known || !one.site.is_unknown();
    whole += static_cast<double>(*part);
    parts.emplace_back(*part, std::move(one));
  }
  if (!is_known) return {};
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : model::text_of(a.second.site) < model::text_of(b.second.site);
  });
  const std::size_t shown = parts.size() <= most + 1 ? parts.size() : most;
  std::vector<SiteLine> lines;
  double left = whole;
  const auto share = [&](double part) { return fmt::format("{:.0f} %", 100 * part / whole); };
  for (std::size_t i = 0; i < shown; ++i) {
    const auto part = static_cast<double>(parts[i].first);
    left -= part;
    lines.push_back({parts[i].second.syscall, share(part), parts[i].second.site, ""});
  }
  if (shown < parts.size()) {
    lines.push_back({"others", share(left), std::nullopt, fmt::format("at {} more lines", parts.size() - shown)});
  }
  return lines;
}

// check for CI systems: the cases of compare, and one for each limit that is exceeded or could not be checked.

namespace {

/// `syscost.toml:12`, where a limit stands; --gate-p99 stands nowhere.
std::optional<model::Location> place_of(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  model::Location place{where.substr(0, colon), 0};
  std::from_chars(where.data() + colon + 1, where.data() + where.size(), place.line);
  return place.line == 0 ? std::nullopt : std::optional(place);
}

}  // namespace

render::CiReport check_ci(const CheckSettings& settings, const CheckResult& result, const CompareResult& compared) {
  render::CiReport report = compare_ci(compared);
  for (const BudgetLine& limit : budget_lines(settings, result)) {
    const std::string name = limit.test + ": " + limit.title;
    render::CiCase line{name, "limit", name, result.locations.find(limit.test), {}, {}, {}};
    if (!line.location) line.location = place_of(limit.where);
    const std::string lines = limit.sites.empty() ? "" : "; " + site_sentence(limit.sites);
    if (!limit.fails) {
      line.warning = sentence_of(limit) + lines;
    } else if (limit.is_judged) {
      line.failures.push_back({"limit", sentence_of(limit) + lines, {}});
    } else {
      line.no_answer = sentence_of(limit);
    }
    report.cases.push_back(std::move(line));
  }
  return report;
}

}  // namespace syscost::bench::commands
