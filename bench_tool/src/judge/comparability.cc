// SPDX-License-Identifier: MIT
#include "judge/comparability.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace syscost::bench::judge {
namespace {

using Candidates = std::vector<PairCandidate>;

std::string full_name(const PairCandidate& one) {
  return fmt::format("{} ({})", one.name, one.program);
}

/// A benchmark can be named without its kind: `BM_Copy` is `benchmark BM_Copy`.
bool is_called(const std::string& name, const std::string& wanted) {
  return name == wanted || name == "benchmark " + wanted;
}

/// The one window that `wanted` names. If there is not exactly one, `fault` says what to do.
std::optional<std::size_t> find_name(const Candidates& side, const std::string& wanted, std::string_view side_name,
                                     std::string& fault) {
  std::vector<std::size_t> found;
  std::string names;
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (is_called(full_name(side[i]), wanted)) return i;
    if (!is_called(side[i].name, wanted)) continue;
    found.push_back(i);
    names += (names.empty() ? "" : ", ") + full_name(side[i]);
  }
  if (found.size() == 1) return found.front();
  fault = found.empty() ? fmt::format("{} has no {}", side_name, wanted)
                        : fmt::format("{} has several {}: {}", side_name, wanted, names);
  return std::nullopt;
}

/// Index of the only test of a side.
std::optional<std::size_t> only_test(const Candidates& side) {
  std::optional<std::size_t> only;
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (!side[i].is_test) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

class Matcher {
 public:
  Matcher(const Candidates& old_side, const Candidates& new_side)
      : old_side_(old_side),
        new_side_(new_side),
        partner_of_old_(old_side.size()),
        has_partner_(new_side.size(), false) {}

  bool is_free(std::size_t old_index, std::size_t new_index) const {
    return !partner_of_old_[old_index] && !has_partner_[new_index];
  }

  void match(std::size_t old_index, std::size_t new_index) {
    partner_of_old_[old_index] = new_index;
    has_partner_[new_index] = true;
  }

  /// Pairs what is free and has the same key, in order of appearance.
  template <class Key>
  void match_by(Key key) {
    std::multimap<decltype(key(old_side_[0])), std::size_t> free;
    for (std::size_t i = 0; i < new_side_.size(); ++i) {
      if (!has_partner_[i]) free.emplace(key(new_side_[i]), i);
    }
    for (std::size_t i = 0; i < old_side_.size(); ++i) {
      if (partner_of_old_[i]) continue;
      auto found = free.find(key(old_side_[i]));
      if (found == free.end()) continue;
      match(i, found->second);
      free.erase(found);
    }
  }

  /// Pairs the loops of windows that were paired under different names: those of one name, and the only loop
  /// of each even if the names differ.
  void match_loops_of_renamed() {
    const std::map<std::size_t, std::vector<std::size_t>> old_loops = loops_by_owner(old_side_);
    const std::map<std::size_t, std::vector<std::size_t>> new_loops = loops_by_owner(new_side_);
    for (const auto& [old_owner, all_old] : old_loops) {
      const std::optional<std::size_t> new_owner = partner_of_old_[old_owner];
      if (!new_owner || old_side_[old_owner].name == new_side_[*new_owner].name) continue;
      const auto found = new_loops.find(*new_owner);
      if (found == new_loops.end()) continue;
      for (const std::size_t old_loop : all_old) {
        for (const std::size_t new_loop : found->second) {
          if (is_free(old_loop, new_loop) && old_side_[old_loop].loop == new_side_[new_loop].loop) {
            match(old_loop, new_loop);
          }
        }
      }
      if (all_old.size() == 1 && found->second.size() == 1 && is_free(all_old.front(), found->second.front())) {
        match(all_old.front(), found->second.front());
      }
    }
  }

  std::vector<Pair> pairs() const {
    std::vector<Pair> all;
    for (std::size_t i = 0; i < old_side_.size(); ++i) all.push_back({i, partner_of_old_[i]});
    for (std::size_t i = 0; i < new_side_.size(); ++i) {
      if (!has_partner_[i]) all.push_back({std::nullopt, i});
    }
    return all;
  }

 private:
  static std::map<std::size_t, std::vector<std::size_t>> loops_by_owner(const Candidates& side) {
    std::map<std::size_t, std::vector<std::size_t>> loops;
    for (std::size_t i = 0; i < side.size(); ++i) {
      if (side[i].owner) loops[*side[i].owner].push_back(i);
    }
    return loops;
  }

  const Candidates& old_side_;
  const Candidates& new_side_;
  std::vector<std::optional<std::size_t>> partner_of_old_;
  std::vector<bool> has_partner_;
};

}  // namespace

Pairing pair_windows(const Candidates& old_side, const Candidates& new_side,
                     const std::vector<std::pair<std::string, std::string>>& asked) {
  Pairing pairing;
  Matcher matcher(old_side, new_side);
  for (const auto& [old_name, new_name] : asked) {
    std::string old_fault;
    std::string new_fault;
    const auto old_index = find_name(old_side, old_name, "OLD", old_fault);
    const auto new_index = find_name(new_side, new_name, "NEW", new_fault);
    for (const std::string& fault : {old_fault, new_fault}) {
      if (!fault.empty()) pairing.faults.push_back(fmt::format("--pair {}={}: {}", old_name, new_name, fault));
    }
    if (!old_index || !new_index) continue;
    if (matcher.is_free(*old_index, *new_index)) {
      matcher.match(*old_index, *new_index);
    } else {
      pairing.faults.push_back(fmt::format("--pair {}={}: one of the two is paired already", old_name, new_name));
    }
  }
  // The program's name decides only if the test's name alone does not. Then nothing else decides.
  matcher.match_by([](const PairCandidate& one) { return std::tuple(one.name, one.program); });
  std::set<std::string> ambiguous;
  for (const Candidates* side : {&old_side, &new_side}) {
    std::set<std::string> seen;
    for (const PairCandidate& one : *side) {
      if (!seen.insert(one.name).second) ambiguous.insert(one.name);
    }
  }
  matcher.match_by([&](const PairCandidate& one) {
    return std::tuple(one.name, ambiguous.contains(one.name) ? one.program : std::string());
  });
  const auto old_test = only_test(old_side);
  const auto new_test = only_test(new_side);
  if (asked.empty() && old_test && new_test && matcher.is_free(*old_test, *new_test)) {
    matcher.match(*old_test, *new_test);
    pairing.single = Pair{old_test, new_test};
  }
  matcher.match_loops_of_renamed();
  pairing.pairs = matcher.pairs();
  return pairing;
}

std::string pair_name(const std::string& old_name, const std::string& new_name) {
  if (old_name == new_name) return old_name;
  const std::size_t old_tail = old_name.rfind(", loop ");
  const std::size_t new_tail = new_name.rfind(", loop ");
  if (old_tail != std::string::npos && new_tail != std::string::npos &&
      old_name.substr(old_tail) == new_name.substr(new_tail)) {
    return pair_name(old_name.substr(0, old_tail), new_name.substr(0, new_tail)) + old_name.substr(old_tail);
  }
  const std::size_t dot = old_name.find('.');
  if (dot != std::string::npos && new_name.starts_with(old_name.substr(0, dot + 1))) {
    return old_name.substr(dot + 1) + " -> " + new_name.substr(dot + 1);
  }
  return old_name + " -> " + new_name;
}

std::vector<std::string> shown_names(const std::vector<Comparison>& all, const std::vector<const Comparison*>& shown) {
  // The name of a row's test. If only one side has the loop, the name on that side.
  auto test_name = [](const Comparison& row) {
    auto of = [](const stats::WindowSummary& window) { return window.owner.empty() ? window.name : window.owner; };
    if (row.old_window == nullptr || row.new_window == nullptr) {
      return of(row.old_window == nullptr ? *row.new_window : *row.old_window);
    }
    return pair_name(of(*row.old_window), of(*row.new_window));
  };
  auto is_loop = [](const Comparison& row) {
    return !(row.old_window == nullptr ? row.new_window : row.old_window)->loop.empty();
  };
  std::map<std::string, std::size_t> times;
  for (const Comparison& row : all) {
    if (is_loop(row)) ++times[test_name(row)];
  }
  for (const Comparison* row : shown) {
    if (!is_loop(*row)) ++times[test_name(*row)];
  }
  std::vector<std::string> names;
  names.reserve(shown.size());
  for (const Comparison* row : shown) {
    // A loop that is missing or new must not read as a missing or new test.
    const bool is_paired = row->old_window != nullptr && row->new_window != nullptr;
    std::string name = test_name(*row);
    names.push_back(is_loop(*row) && is_paired && times[name] == 1 ? name : row->name);
  }
  return names;
}

namespace {

using Sides = std::array<std::pair<const stats::WindowSummary*, const char*>, 2>;

Sides sides_of(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window) {
  return {{{&old_window, "OLD"}, {&new_window, "NEW"}}};
}

bool is_skipped(const stats::WindowSummary& window) {
  return window.outcomes.size() == 1 && window.outcomes.begin()->first == "skipped";
}

/// Why a side's counts are not those of a normal run of the test; "" if they are.
std::string outcome_fault(const stats::WindowSummary& window, std::string_view side) {
  for (const auto& [outcome, times] : window.outcomes) {
    if (outcome == "failed" && window.was_retried) {
      return fmt::format("failed in {} and passed in a later process", side);
    }
    if (outcome != "passed") return fmt::format("{} in {}", outcome, side);
  }
  return {};
}

std::string loss_fault(const stats::WindowSummary& window, std::string_view side) {
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
std::string injected_text(const stats::WindowSummary& window, std::string_view side) {
  std::string names;
  for (const stats::SyscallSummary& one : window.syscalls) {
    if (one.altered && one.altered->max > 0) names += (names.empty() ? "" : ", ") + one.name;
  }
  return fmt::format("faults changed {} call{} in {} ({})", *window.altered, *window.altered == 1 ? "" : "s", side,
                     names);
}

/// The faults of the sides that have some, if the two differ by faults.
std::string injected_fault(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window) {
  std::string text;
  if (!differ_by_faults(old_window, new_window)) return text;
  for (const auto& [window, side] : sides_of(old_window, new_window)) {
    if (stats::has_altered(*window)) text += (text.empty() ? "" : ", ") + injected_text(*window, side);
  }
  return text;
}

std::string counted_by(const stats::WindowSummary& window) {
  if (window.calls && window.entries) return "calls and entries";
  return window.calls ? "calls" : window.entries ? "entries" : "nothing";
}

}  // namespace

bool differ_by_faults(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window) {
  const bool old_has = stats::has_altered(old_window);
  const bool new_has = stats::has_altered(new_window);
  return old_has != new_has || (old_has && old_window.altered_by != new_window.altered_by);
}

std::optional<Fault> find_fault(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window) {
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

std::string why_incomparable(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window) {
  if (old_window.is_per_iteration != new_window.is_per_iteration) {
    return fmt::format("only {} says how often the body ran", old_window.is_per_iteration ? "OLD" : "NEW");
  }
  for (const auto& [window, side] : sides_of(old_window, new_window)) {
    if (window->filters.size() < 2) continue;
    return fmt::format("{} was counted under several filters ({})", side, stats::filter_text(*window));
  }
  if (old_window.filters == new_window.filters) return {};
  return fmt::format("different syscalls were counted: filter {} in OLD, {} in NEW", stats::filter_text(old_window),
                     stats::filter_text(new_window));
}

std::string why_not_counted(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window) {
  for (const auto& [window, side] : sides_of(old_window, new_window)) {
    if (window->uncounted == 0) continue;
    return fmt::format("{} of {} repetitions of {} were not counted", window->uncounted, window->n, side);
  }
  const std::string of_old = counted_by(old_window);
  const std::string of_new = counted_by(new_window);
  if (of_old == of_new) return "no count was measured on both sides";
  return fmt::format("OLD counted {}, NEW {}", of_old, of_new);
}

}  // namespace syscost::bench::judge
