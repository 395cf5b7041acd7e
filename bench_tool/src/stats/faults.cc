// SPDX-License-Identifier: MIT
#include "stats/faults.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace syscost::bench::stats {
namespace {

using Sides = std::array<std::pair<const WindowSummary*, const char*>, 2>;

Sides sides_of(const WindowSummary& old_window, const WindowSummary& new_window) {
  return {{{&old_window, "OLD"}, {&new_window, "NEW"}}};
}

bool is_skipped(const WindowSummary& window) {
  return window.outcomes.size() == 1 && window.outcomes.begin()->first == "skipped";
}

/// Why a side's counts are not those of a normal run of the test; "" if they are.
std::string outcome_fault(const WindowSummary& window, std::string_view side) {
  for (const auto& [outcome, times] : window.outcomes) {
    if (outcome == "failed" && window.was_retried) {
      return fmt::format("failed in {} and passed in a later process", side);
    }
    if (outcome != "passed") return fmt::format("{} in {}", outcome, side);
  }
  return {};
}

std::string loss_fault(const WindowSummary& window, std::string_view side) {
  // An event that came after its window was read is also missing in the window's counts.
  const std::uint64_t lost = window.lost.value_or(0);
  const std::uint64_t late = window.late.value_or(0);
  if (lost + late > 0) {
    return fmt::format("{} events {} in {}: its counts are lower bounds", lost + late,
                       late == 0   ? "lost"
                       : lost == 0 ? "came late"
                                   : "lost or late",
                       side);
  }
  if (window.incomplete > 0) {
    return fmt::format("rows are missing in {} of {} repetitions of {}", window.incomplete, window.n, side);
  }
  return {};
}

/// `faults changed 3 calls in NEW (write)`.
std::string injected_text(const WindowSummary& window, std::string_view side) {
  std::string names;
  for (const SyscallSummary& one : window.syscalls) {
    if (one.injected && one.injected->max > 0) names += (names.empty() ? "" : ", ") + one.name;
  }
  return fmt::format("faults changed {} call{} in {} ({})", *window.injected, *window.injected == 1 ? "" : "s", side,
                     names);
}

/// Of the sides that have some, if the two differ by faults.
std::string injected_fault(const WindowSummary& old_window, const WindowSummary& new_window) {
  std::string text;
  if (!differ_by_faults(old_window, new_window)) return text;
  for (const auto& [window, side] : sides_of(old_window, new_window)) {
    if (has_injected(*window)) text += (text.empty() ? "" : ", ") + injected_text(*window, side);
  }
  return text;
}

std::string counted_by(const WindowSummary& window) {
  if (window.calls && window.entries) return "calls and entries";
  return window.calls ? "calls" : window.entries ? "entries" : "nothing";
}

}  // namespace

bool differ_by_faults(const WindowSummary& old_window, const WindowSummary& new_window) {
  const bool old_has = has_injected(old_window);
  const bool new_has = has_injected(new_window);
  return old_has != new_has || (old_has && old_window.inject_rules != new_window.inject_rules);
}

std::optional<Fault> find_fault(const WindowSummary& old_window, const WindowSummary& new_window) {
  std::string outcomes;
  // A test that is skipped on both sides made the same calls on both.
  if (!is_skipped(old_window) || !is_skipped(new_window)) {
    for (const auto& [window, side] : sides_of(old_window, new_window)) {
      const std::string fault = outcome_fault(*window, side);
      if (!fault.empty()) outcomes += (outcomes.empty() ? "" : ", ") + fault;
    }
  }
  std::string injected = injected_fault(old_window, new_window);
  if (!outcomes.empty()) return Fault{Verdict::errored, outcomes + (injected.empty() ? "" : "; ") + injected};
  for (const auto& [window, side] : sides_of(old_window, new_window)) {
    std::string fault = loss_fault(*window, side);
    if (!fault.empty()) return Fault{Verdict::inconclusive, std::move(fault)};
  }
  if (!injected.empty()) return Fault{Verdict::inconclusive, std::move(injected)};
  return std::nullopt;
}

std::string why_incomparable(const WindowSummary& old_window, const WindowSummary& new_window) {
  if (old_window.is_per_iteration != new_window.is_per_iteration) {
    return fmt::format("only {} says how often the body ran", old_window.is_per_iteration ? "OLD" : "NEW");
  }
  for (const auto& [window, side] : sides_of(old_window, new_window)) {
    if (window->filters.size() < 2) continue;
    return fmt::format("{} was counted under several filters ({})", side, filter_text(*window));
  }
  if (old_window.filters == new_window.filters) return {};
  return fmt::format("different syscalls were counted: filter {} in OLD, {} in NEW", filter_text(old_window),
                     filter_text(new_window));
}

std::string why_not_counted(const WindowSummary& old_window, const WindowSummary& new_window) {
  for (const auto& [window, side] : sides_of(old_window, new_window)) {
    if (window->uncounted == 0) continue;
    return fmt::format("{} of {} repetitions of {} were not counted", window->uncounted, window->n, side);
  }
  const std::string of_old = counted_by(old_window);
  const std::string of_new = counted_by(new_window);
  if (of_old == of_new) return "no count was measured on both sides";
  return fmt::format("OLD counted {}, NEW {}", of_old, of_new);
}

}  // namespace syscost::bench::stats
