// SPDX-License-Identifier: MIT
//
// check for CI systems: a case for each test, and one for each limit that is exceeded or could not be checked.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "commands/check_words.h"
#include "commands/compare_ci.h"
#include "commands/gate.h"
#include "commands/site_text.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;

constexpr std::array<render::CiRule, 6> kCheckRules = {
    {{"counts", "A test makes more syscalls than the baseline says, or one fails that did not"},
     {"missing", "A test of the baseline is not in the run"},
     {"failed", "A test fails, so its cost is not known"},
     {"skipped", "A test is skipped that was not, so its cost is not known"},
     {"crashed", "A test or a program ended its process, so its cost is not known"},
     {"limit", "A limit is exceeded, or limits no test"}}};

std::string_view rule_of(const Comparison& row) {
  const std::vector<std::string_view> by = gate_failures(row, {.counts = true});
  return by.empty() ? "failed" : by.front();
}

std::string text_of(const Comparison& row) {
  const std::string change = change_cell(row);
  const std::string lines = site_sentence(site_lines(row, kFewSiteLines, kRunSide));
  return state_of(row) + (change.empty() ? "" : ": " + change) + (lines.empty() ? "" : "; " + lines);
}

/// `syscost.toml:12`, where a limit stands; --gate-p99 stands nowhere.
std::optional<model::Location> place_of(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  model::Location place{where.substr(0, colon), 0};
  std::from_chars(where.data() + colon + 1, where.data() + where.size(), place.line);
  return place.line == 0 ? std::nullopt : std::optional(place);
}

}  // namespace

render::CiReport check_ci(const CheckSettings& settings, const CheckResult& result) {
  render::CiReport report{"bench check", kCheckRules, {}, result.warnings, check_title(settings, result)};
  for (const CheckedRow& row : result.rows) {
    const Comparison& one = row.comparison;
    const auto [suite, test] = ci_names(one);
    render::CiCase line{one.name, std::string(suite), std::string(test), result.locations.find(one.name), {}, {}, {}};
    if (is_red(one)) {
      line.failures.push_back({rule_of(one), text_of(one), grown_line(one)});
    } else if (result.has_baseline && is_unjudged(one)) {
      line.no_answer = text_of(one);
    } else if (one.verdict == stats::Verdict::accepted) {
      line.accepted = text_of(one);
    }
    report.cases.push_back(std::move(line));
  }
  add_cases(result.lost, report);
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
