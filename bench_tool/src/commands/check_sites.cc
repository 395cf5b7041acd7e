// SPDX-License-Identifier: MIT
//
// Which lines of the program reach a budget that is exceeded.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "commands/check_words.h"
#include "stats/site_totals.h"

namespace syscost::bench::commands {
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

}  // namespace syscost::bench::commands
