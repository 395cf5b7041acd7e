// SPDX-License-Identifier: MIT
#include "commands/injected.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "model/surroundings.h"
#include "stats/faults.h"

namespace syscost::bench::commands {
namespace {

constexpr std::size_t kMostNamed = 3;

/// `A.x, B.y, C.z, ...`.
std::string some_of(std::vector<std::string> names) {
  const bool has_more = names.size() > kMostNamed;
  if (has_more) names.resize(kMostNamed);
  return fmt::format("{}{}", fmt::join(names, ", "), has_more ? ", ..." : "");
}

std::string number_of_tests(std::size_t count) {
  return fmt::format("{} test{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::string injected_line(std::uint64_t calls) {
  return fmt::format("{} call{} answered or changed by faults", calls, calls == 1 ? " was" : "s were");
}

void InjectedCalls::add(const stats::WindowSummary& window) {
  // A scope's calls are those of its test, too.
  if (!stats::has_injected(window) || !window.is_ours() || window.kind == "scope") return;
  calls_ += *window.injected;
  names_.push_back(window.name);
}

std::string InjectedCalls::text() const {
  if (calls_ == 0) return {};
  return fmt::format("{}, in {}: {}", injected_line(calls_), number_of_tests(names_.size()), some_of(names_));
}

std::string inject_rules(const model::Dataset& data) {
  const model::Facts facts = model::facts_of(data);
  const auto found = facts.find("inject");
  return found == facts.end() ? std::string() : model::joined(found->second);
}

std::vector<std::string> injected_warnings(const std::vector<stats::Comparison>& rows, const InjectedSide& before,
                                           const InjectedSide& after) {
  std::vector<std::string> of_before;
  std::vector<std::string> of_after;
  std::vector<std::string> of_both;
  for (const stats::Comparison& row : rows) {
    if (!row.is_paired() || !stats::differ_by_faults(*row.old_window, *row.new_window)) continue;
    std::vector<std::string>& names = !stats::has_injected(*row.old_window)   ? of_after
                                      : !stats::has_injected(*row.new_window) ? of_before
                                                                              : of_both;
    names.push_back(row.name);
  }
  std::vector<std::string> warnings;
  const auto warn = [&](const std::vector<std::string>& names, const std::string& where) {
    if (names.empty()) return;
    warnings.push_back(fmt::format("faults answered or changed calls of {} {}, so that they are not compared: {}",
                                   number_of_tests(names.size()), where, some_of(names)));
  };
  const auto alone = [](const InjectedSide& side) {
    return fmt::format("in {} alone{}", side.name, side.rules.empty() ? "" : fmt::format(" (inject {})", side.rules));
  };
  const auto rules = [](const InjectedSide& side) { return side.rules.empty() ? std::string("none") : side.rules; };
  warn(of_before, alone(before));
  warn(of_after, alone(after));
  warn(of_both, fmt::format("by other rules (inject {} -> {})", rules(before), rules(after)));
  return warnings;
}

}  // namespace syscost::bench::commands
