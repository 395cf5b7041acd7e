// SPDX-License-Identifier: MIT
#include "commands/count_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "cli/check_options.h"
#include "csv/input.h"
#include "csv/printable.h"

namespace syscost::bench::commands {

RulesFile add_rules_of_file(const std::string& asked, stats::CountPolicy& policy, csv::Problems& problems) {
  const std::string name = asked.empty() ? cli::kBudgetsFile : asked;
  if (asked.empty() && !csv::is_own_file_there(name, problems)) return {};
  budgets::BudgetFile file = budgets::read_budgets(name, problems);
  stats::CountPolicy rules;
  for (const std::string& selector : file.volatiles) {
    // An empty selector means every syscall, so that nothing would be gated.
    const std::optional<std::string> fault =
        selector.empty() ? "a selector is empty; * means every syscall" : rules.add_volatile(selector);
    if (fault) problems.add(name, 0, "volatile: " + *fault);
  }
  for (const std::string& text : file.tolerances) {
    if (const auto fault = rules.add_tolerance(text)) problems.add(name, 0, "tolerate: " + *fault);
  }
  policy.put_before(rules);
  std::string said;
  if (!file.volatiles.empty()) said = fmt::format("volatile {}", fmt::join(file.volatiles, ", "));
  if (!file.tolerances.empty()) {
    said += fmt::format("{}tolerate {}", said.empty() ? "" : "; ", fmt::join(file.tolerances, ", "));
  }
  RulesFile out{std::move(file.budgets), !said.empty(), {}};
  if (out.has_rules || !asked.empty()) {
    out.line = csv::printable(fmt::format("rules of {}: {}", name, said.empty() ? "none" : said));
  }
  return out;
}

}  // namespace syscost::bench::commands
