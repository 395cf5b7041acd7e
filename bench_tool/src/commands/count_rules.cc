// SPDX-License-Identifier: MIT
#include "commands/count_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>

#include "cli/check_options.h"
#include "csv/printable.h"

namespace syscost::bench::commands {

void add_rules(const budgets::BudgetFile& file, const std::string& name, stats::CountPolicy& policy,
               csv::Problems& problems) {
  stats::CountPolicy rules;
  for (const std::string& selector : file.volatiles) {
    if (const auto fault = rules.add_volatile(selector)) problems.add(name, 0, "volatile: " + *fault);
  }
  for (const std::string& text : file.tolerances) {
    if (const auto fault = rules.add_tolerance(text)) problems.add(name, 0, "tolerate: " + *fault);
  }
  policy.put_before(rules);
}

std::string add_rules_of_file(const std::string& asked, stats::CountPolicy& policy, csv::Problems& problems) {
  const std::string name = asked.empty() ? cli::kBudgetsFile : asked;
  std::error_code ignored;
  if (asked.empty() && !std::filesystem::exists(name, ignored)) return {};
  const budgets::BudgetFile file = budgets::read_budgets(name, problems);
  add_rules(file, name, policy, problems);
  std::string said;
  if (!file.volatiles.empty()) said = fmt::format("volatile {}", fmt::join(file.volatiles, ", "));
  if (!file.tolerances.empty()) {
    said += fmt::format("{}tolerate {}", said.empty() ? "" : "; ", fmt::join(file.tolerances, ", "));
  }
  if (said.empty() && asked.empty()) return {};
  return csv::printable(fmt::format("rules of {}: {}", name, said.empty() ? "none" : said));
}

}  // namespace syscost::bench::commands
