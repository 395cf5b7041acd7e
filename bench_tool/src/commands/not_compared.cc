// SPDX-License-Identifier: MIT
#include "commands/not_compared.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace syscost::bench::commands {
namespace {

using stats::Comparison;

std::size_t count(const std::vector<const Comparison*>& rows, bool (*is)(const Comparison&)) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const Comparison* row) { return is(*row); }));
}

bool is_paired(const Comparison& row) {
  return row.is_paired() && !row.is_plain;
}

}  // namespace

std::vector<const Comparison*> pointers_to(const std::vector<Comparison>& rows) {
  std::vector<const Comparison*> pointers;
  for (const Comparison& row : rows) pointers.push_back(&row);
  return pointers;
}

bool is_not_compared(const Comparison& row) {
  return is_paired(row) && row.verdict == stats::Verdict::incomparable;
}

std::string not_compared(const std::vector<const Comparison*>& rows) {
  constexpr std::size_t kMostNamed = 5;
  std::map<std::string, std::size_t> reasons;
  std::vector<std::string_view> named;
  for (const Comparison* row : rows) {
    if (!is_not_compared(*row)) continue;
    ++reasons[row->reason];
    if (named.size() < kMostNamed) named.emplace_back(row->name);
  }
  if (reasons.empty()) return {};
  const auto most = std::max_element(reasons.begin(), reasons.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::size_t all = count(rows, is_paired);
  const std::size_t left_out = count(rows, is_not_compared);
  return fmt::format("{} of {} test{} could not be compared: {}{}: {}{}", left_out, all, all == 1 ? "" : "s",
                     most->first, reasons.size() == 1 ? "" : fmt::format(" ({} of them)", most->second),
                     fmt::join(named, ", "), left_out > kMostNamed ? ", ..." : "");
}

std::string without_verdict(const std::vector<const Comparison*>& rows) {
  const std::size_t tests =
      count(rows, [](const Comparison& row) { return is_paired(row) && row.verdict == stats::Verdict::inconclusive; });
  return tests == 0 ? "" : fmt::format("{} test{} without a verdict", tests, tests == 1 ? "" : "s");
}

std::string in_doubt(const std::vector<const Comparison*>& rows) {
  const std::size_t tests =
      count(rows, [](const Comparison& row) { return is_paired(row) && row.verdict == stats::Verdict::in_doubt; });
  return tests == 0 ? "" : fmt::format("{} test{} in doubt", tests, tests == 1 ? "" : "s");
}

std::string accepted(const std::vector<const Comparison*>& rows) {
  const std::size_t tests = count(rows, [](const Comparison& row) { return row.verdict == stats::Verdict::accepted; });
  return tests == 0 ? "" : fmt::format("{} test{} accepted", tests, tests == 1 ? "" : "s");
}

bool judged_nothing(const std::vector<const Comparison*>& rows) {
  const auto has_verdict = [](const Comparison& row) {
    return is_paired(row) && !row.old_window->is_set_up() && !stats::has_no_answer(row.verdict);
  };
  const bool has_unjudged = count(rows, is_not_compared) != 0 || !without_verdict(rows).empty();
  return has_unjudged && count(rows, has_verdict) == 0;
}

std::string errors_not_compared(const std::vector<const Comparison*>& rows) {
  const std::size_t of_old = count(rows, [](const Comparison& row) { return row.lacks_errnos_of_old; });
  const std::size_t of_new = count(rows, [](const Comparison& row) { return row.lacks_errnos_of_new; });
  const std::size_t tests =
      count(rows, [](const Comparison& row) { return row.lacks_errnos_of_old || row.lacks_errnos_of_new; });
  if (tests == 0) return {};
  const std::string_view side = of_old == 0 ? "OLD" : of_new == 0 ? "NEW" : "one of the two";
  return fmt::format("which calls fail was measured in {} alone, so failed calls of {} test{} are not compared", side,
                     tests, tests == 1 ? "" : "s");
}

}  // namespace syscost::bench::commands
