// SPDX-License-Identifier: MIT
//
// check for CI systems: the cases of compare, and one for each limit that is exceeded or could not be checked.
#include <charconv>
#include <string>
#include <utility>

#include "commands/check_words.h"
#include "commands/compare_ci.h"
#include "commands/site_text.h"

namespace syscost::bench::commands {
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
