// SPDX-License-Identifier: MIT
#include "commands/count_rules.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "cli/check_options.h"
#include "commands/accept_lines.h"
#include "csv/input.h"
#include "csv/printable.h"

namespace syscost::bench::commands {
namespace {

/// `read=5%, write=3 in Net.*`
std::string rules_text(const std::vector<budgets::CountRule>& rules) {
  std::string text;
  for (const budgets::CountRule& rule : rules) {
    text += (text.empty() ? "" : ", ") + rule.text;
    if (rule.tests) text += " in " + rule.tests->text();
  }
  return text;
}

}  // namespace

ProjectRules add_rules_of_file(const std::string& asked, stats::CountPolicy& policy, csv::Problems& problems,
                               bool has_accepts) {
  const std::string name = asked.empty() ? cli::kBudgetsFile : asked;
  if (asked.empty() && !csv::is_own_file_there(name, problems)) return {};
  budgets::RulesFile file = budgets::read_rules(name, problems);
  if (!has_accepts) file.accepts.clear();
  stats::CountPolicy rules;
  for (const budgets::CountRule& rule : file.volatiles) {
    // An empty selector means every syscall, so that nothing would be gated.
    const std::optional<std::string> fault =
        rule.text.empty() ? "a selector is empty; * means every syscall" : rules.add_volatile(rule.text, rule.tests);
    if (fault) problems.add(name, rule.line, "volatile: " + *fault);
  }
  for (const budgets::CountRule& rule : file.tolerances) {
    if (const auto fault = rules.add_tolerance(rule.text, rule.tests)) {
      problems.add(name, rule.line, "tolerate: " + *fault);
    }
  }
  policy.put_before(rules);
  std::string said;
  if (!file.volatiles.empty()) said = "volatile " + rules_text(file.volatiles);
  if (!file.tolerances.empty()) said += (said.empty() ? "tolerate " : "; tolerate ") + rules_text(file.tolerances);
  if (file.gates_waits) {
    policy.gate_waits();
    said += said.empty() ? "gate-waits" : "; gate-waits";
  }
  const bool has_rules = !said.empty();
  if (const std::size_t accepts = file.accepts.size(); accepts > 0) {
    said += fmt::format("{}accept of {} change{}", said.empty() ? "" : "; ", accepts, accepts == 1 ? "" : "s");
  }
  ProjectRules out{std::move(file.budgets), std::move(file.accepts), {}, has_rules, {}};
  for (const auto& [word, entries] :
       {std::pair("volatile", &file.volatiles), std::pair("tolerate", &file.tolerances)}) {
    for (const budgets::CountRule& rule : *entries) {
      if (!rule.tests) continue;
      out.rules_of_tests.push_back(
          {fmt::format("{} {} ({}:{})", word, rules_text({rule}), name, rule.line), *rule.tests});
    }
  }
  if (out.has_rules || !asked.empty()) {
    out.line = csv::printable(fmt::format("rules of {}: {}", name, said.empty() ? "none" : said));
  }
  return out;
}

std::vector<stats::Accept> accepts_of(std::vector<stats::Accept> of_file, const cli::Options& options,
                                      csv::Problems& problems) {
  if (!options.accept_from.empty()) {
    for (stats::Accept& one : read_accept_lines(options.accept_from, problems)) of_file.push_back(std::move(one));
  }
  return of_file;
}

std::string add_rules(cli::Options& options, csv::Problems& problems) {
  ProjectRules rules = add_rules_of_file(options.config, options.counts, problems);
  options.accepts = accepts_of(std::move(rules.accepts), options, problems);
  options.rules_of_tests = std::move(rules.rules_of_tests);
  return std::move(rules.line);
}

}  // namespace syscost::bench::commands
