// SPDX-License-Identifier: MIT
#include "judge/several_processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "judge/count_policy.h"

namespace syscost::bench::judge {
namespace {

constexpr std::size_t kMostNamedTests = 5;

/// `2 processes, 5..50 getppid`, of the first syscall with a count that varies; "" if none does.
std::string unlike_counts(const CountPolicy& policy, const stats::WindowSummary* window) {
  if (window == nullptr || window->processes < 2) return {};
  const CountPolicy own_policy = rules_of(policy, window, nullptr);
  const auto varies = [&](const stats::SyscallSummary& one) {
    return one.count() && !one.count()->is_exact() && !own_policy.is_volatile(one.name, one.classes);
  };
  const auto found = std::find_if(window->syscalls.begin(), window->syscalls.end(), varies);
  if (found == window->syscalls.end()) return {};
  return fmt::format("{} processes, {}..{} {}", window->processes, found->count()->min, found->count()->max,
                     found->name);
}

std::string named(const std::vector<std::string>& tests) {
  const auto end = tests.begin() + static_cast<std::ptrdiff_t>(std::min(tests.size(), kMostNamedTests));
  return fmt::format("{}{}", fmt::join(tests.begin(), end, ", "), end == tests.end() ? "" : ", ...");
}

std::string number_of(const std::vector<std::string>& tests) {
  return fmt::format("{} test{}", tests.size(), tests.size() == 1 ? "" : "s");
}

std::string unlike_text(const std::vector<std::string>& tests) {
  return fmt::format(
      "{} ran in several processes of one run, with unlike counts: {}. If the processes have other arguments or "
      "variables, a change of one does not show: start each by a name of its own, for example by a link to the program",
      number_of(tests), named(tests));
}

}  // namespace

std::vector<std::string> mark_unclear_processes(const CountPolicy& policy, std::string_view old_side,
                                                std::string_view new_side, std::vector<Comparison>& rows) {
  std::vector<std::string> unlike;
  std::vector<std::string> fewer;
  for (Comparison& row : rows) {
    if (!row.is_paired()) continue;
    std::vector<std::string> sides;
    for (const auto& [side, window] : {std::pair(old_side, row.old_window), std::pair(new_side, row.new_window)}) {
      if (const std::string counts = unlike_counts(policy, window); !counts.empty()) {
        sides.push_back(fmt::format("{} in {}", counts, side));
      }
    }
    if (!sides.empty()) unlike.push_back(fmt::format("{} ({})", row.name, fmt::join(sides, "; ")));
    const bool has_fewer = row.new_window->processes != 0 && row.new_window->processes < row.old_window->processes;
    if (has_fewer) {
      fewer.push_back(fmt::format("{} ({} in {}, {} in {})", row.name, row.old_window->processes, old_side,
                                  row.new_window->processes, new_side));
    }
    row.has_unclear_processes = has_fewer || !sides.empty();
  }
  std::vector<std::string> warnings;
  if (!unlike.empty()) warnings.push_back(unlike_text(unlike));
  if (!fewer.empty()) {
    warnings.push_back(
        fmt::format("{} ran in fewer processes of a run than before: {}. Whether one is missing is not known",
                    number_of(fewer), named(fewer)));
  }
  return warnings;
}

std::string unlike_processes(const CountPolicy& policy, const std::vector<stats::WindowSummary>& windows) {
  std::vector<std::string> tests;
  for (const stats::WindowSummary& window : windows) {
    const std::string counts = unlike_counts(policy, &window);
    if (!counts.empty()) tests.push_back(fmt::format("{} ({})", window.name, counts));
  }
  return tests.empty() ? std::string() : unlike_text(tests);
}

}  // namespace syscost::bench::judge
