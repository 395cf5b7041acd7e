// SPDX-License-Identifier: MIT
#include "stats/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "stats/pairing.h"

namespace syscost::bench::stats {
namespace {

/// The same syscall on both sides; null where a side did not make it.
struct Both {
  const SyscallSummary* old_one = nullptr;
  const SyscallSummary* new_one = nullptr;

  bool is_wait() const { return (old_one != nullptr && old_one->is_wait) || (new_one != nullptr && new_one->is_wait); }
  bool is_volatile() const {
    return (old_one != nullptr && old_one->is_volatile) || (new_one != nullptr && new_one->is_volatile);
  }
};

std::map<std::string_view, Both> match_syscalls(const WindowSummary& old_window, const WindowSummary& new_window) {
  std::map<std::string_view, Both> both;
  for (const SyscallSummary& one : old_window.syscalls) both[one.name].old_one = &one;
  for (const SyscallSummary& one : new_window.syscalls) both[one.name].new_one = &one;
  return both;
}

/// A syscall that was not made has no row: all its counts are 0.
Numbers count_of(const SyscallSummary* syscall, Numbers SyscallSummary::*field) {
  return syscall == nullptr ? Numbers(Spread{1, 0, 0, 0}) : syscall->*field;
}

Spread errno_count(const SyscallSummary* syscall, const std::string& name) {
  if (syscall == nullptr) return Spread{1, 0, 0, 0};
  auto found = syscall->errnos.find(name);
  return found == syscall->errnos.end() ? Spread{1, 0, 0, 0} : found->second;
}

/// True when every syscall of both sides has `field`.
bool all_have(const std::map<std::string_view, Both>& syscalls, Numbers SyscallSummary::*field) {
  return std::all_of(syscalls.begin(), syscalls.end(), [&](const auto& entry) {
    return count_of(entry.second.old_one, field) && count_of(entry.second.new_one, field);
  });
}

class Judge {
 public:
  Judge(const Tolerance& tolerance, Comparison& out) : tolerance_(tolerance), out_(out) {}

  void compare(const std::map<std::string_view, Both>& syscalls, Numbers SyscallSummary::*field) {
    for (const auto& [name, both] : syscalls) {
      add({std::string(name), "", {}, {}, Change::none, both.is_volatile(), false}, *count_of(both.old_one, field),
          *count_of(both.new_one, field));
    }
    for (const auto& [name, both] : syscalls) compare_errnos(name, both);
    auto order = [](const Delta& delta) {
      const int rank = delta.change == Change::grew ? 0 : delta.change == Change::shrank ? 1 : 2;
      return std::tuple(!delta.errno_name.empty(), rank, -std::abs(delta.new_count.median - delta.old_count.median),
                        std::string_view(delta.syscall), std::string_view(delta.errno_name));
    };
    std::sort(out_.deltas.begin(), out_.deltas.end(),
              [&](const Delta& a, const Delta& b) { return order(a) < order(b); });
  }

  Verdict verdict() const {
    return grew_ ? Verdict::regressed : shrank_ ? Verdict::improved : is_near_ ? Verdict::near : Verdict::same;
  }

 private:
  void compare_errnos(std::string_view syscall, const Both& both) {
    std::map<std::string, bool> names;
    for (const SyscallSummary* side : {both.old_one, both.new_one}) {
      if (side == nullptr) continue;
      for (const auto& [name, spread] : side->errnos) names[name] = true;
    }
    for (const auto& [name, ignored] : names) {
      const Spread old_count = errno_count(both.old_one, name);
      const Spread new_count = errno_count(both.new_one, name);
      add({std::string(syscall), name, {}, {}, Change::none, both.is_volatile(), old_count.max == 0}, old_count,
          new_count);
    }
  }

  void add(Delta delta, const Spread& old_count, const Spread& new_count) {
    delta.change = compare_counts(old_count, new_count, tolerance_);
    if (delta.change == Change::none) return;
    if (delta.is_gated()) {
      (delta.change == Change::grew ? grew_ : delta.change == Change::shrank ? shrank_ : is_near_) = true;
    }
    delta.old_count = old_count;
    delta.new_count = new_count;
    out_.deltas.push_back(std::move(delta));
  }

  const Tolerance& tolerance_;
  Comparison& out_;
  bool grew_ = false;
  bool shrank_ = false;
  bool is_near_ = false;
};

std::optional<KernelSplit> split_kernel_time(const std::map<std::string_view, Both>& syscalls) {
  KernelSplit split;
  for (const auto& [name, both] : syscalls) {
    if (both.is_wait()) continue;
    const Numbers n0 = count_of(both.old_one, &SyscallSummary::latency_count);
    const Numbers n1 = count_of(both.new_one, &SyscallSummary::latency_count);
    const Numbers t0 = count_of(both.old_one, &SyscallSummary::kernel_ns);
    const Numbers t1 = count_of(both.new_one, &SyscallSummary::kernel_ns);
    if (!n0 || !n1 || !t0 || !t1) return std::nullopt;
    const double m1 = n1->median > 0 ? t1->median / n1->median : 0;
    // A syscall that was not made before has no earlier mean: all its time is more calls.
    const double m0 = n0->median > 0 ? t0->median / n0->median : m1;
    split.more_calls_ns += (n1->median - n0->median) * m0;
    split.slower_calls_ns += n1->median > 0 ? n1->median * (m1 - m0) : 0;
  }
  return split;
}

/// `per_call`, which is in whole calls of a repetition, in the unit of the windows' counts. Counts per iteration of
/// passes that differ in length agree up to one whole call of the shorter: 1 call in 1000 and 1 in 1050 are the same.
Tolerance in_unit_of(const WindowSummary& old_window, const WindowSummary& new_window, Tolerance per_call) {
  if (!old_window.counted_passes || !new_window.counted_passes) return per_call;
  const double shortest = std::min(old_window.counted_passes->min, new_window.counted_passes->min);
  const double longest = std::max(old_window.counted_passes->max, new_window.counted_passes->max);
  per_call.abs /= shortest;
  if (shortest < longest) per_call.rounding = 1 / shortest;
  return per_call;
}

/// Why a side's counts are not what the test would normally ask; "" when they are.
std::string outcome_fault(const WindowSummary& window, std::string_view side) {
  for (const auto& [outcome, times] : window.outcomes) {
    if (outcome != "passed") return fmt::format("{} in {}", outcome, side);
  }
  return {};
}

std::string loss_fault(const WindowSummary& window, std::string_view side) {
  // An event that came after its window was read is not in the window's counts either.
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

}  // namespace

Change compare_counts(const Spread& old_count, const Spread& new_count, const Tolerance& tolerance) {
  if (old_count.is_exact() && new_count.is_exact()) {
    if (old_count.min == new_count.min) return Change::none;
    const double difference = std::abs(new_count.min - old_count.min);
    if (tolerance.rounding > 0 && old_count.min > 0 && difference <= tolerance.rounding) return Change::near;
    return new_count.min > old_count.min ? Change::grew : Change::shrank;
  }
  if (old_count.max == 0) return Change::grew;
  const double allowed = std::max(tolerance.abs, tolerance.rel * old_count.median);
  if (new_count.min - old_count.max > allowed) return Change::grew;
  if (old_count.min - new_count.max > allowed) return Change::shrank;
  // The same median and range again is what such a count does.
  return std::tuple(old_count.min, old_count.median, old_count.max) ==
                 std::tuple(new_count.min, new_count.median, new_count.max)
             ? Change::none
             : Change::near;
}

Comparison compare_windows(const WindowSummary* old_window, const WindowSummary* new_window,
                           const Tolerance& tolerance) {
  Comparison out;
  out.old_window = old_window;
  out.new_window = new_window;
  if (old_window == nullptr || new_window == nullptr) {
    out.verdict = old_window == nullptr ? Verdict::added : Verdict::missing;
    out.name = old_window == nullptr ? new_window->name : old_window->name;
    return out;
  }
  out.name = pair_name(old_window->name, new_window->name);
  if (old_window->is_per_iteration != new_window->is_per_iteration) {
    out.verdict = Verdict::incomparable;
    out.reason = fmt::format("only {} says how often the body ran", old_window->is_per_iteration ? "OLD" : "NEW");
    return out;
  }
  for (const auto& [window, side] : {std::pair(old_window, "OLD"), std::pair(new_window, "NEW")}) {
    if (window->filters.size() < 2) continue;
    out.verdict = Verdict::incomparable;
    out.reason = fmt::format("{} was counted under several filters ({})", side, filter_text(*window));
    return out;
  }
  if (old_window->filters != new_window->filters) {
    out.verdict = Verdict::incomparable;
    out.reason = fmt::format("different syscalls were counted: filter {} in OLD, {} in NEW", filter_text(*old_window),
                             filter_text(*new_window));
    return out;
  }
  const auto syscalls = match_syscalls(*old_window, *new_window);
  const bool have_calls = all_have(syscalls, &SyscallSummary::calls) && old_window->calls && new_window->calls;
  const bool have_entries = all_have(syscalls, &SyscallSummary::entries) && old_window->entries && new_window->entries;
  out.counts_entries = !have_calls && have_entries;
  const Tolerance in_unit = in_unit_of(*old_window, *new_window, tolerance);
  Judge judge(in_unit, out);
  if (have_calls || have_entries) {
    judge.compare(syscalls, have_calls ? &SyscallSummary::calls : &SyscallSummary::entries);
    out.kernel_split = split_kernel_time(syscalls);
  }
  out.verdict = judge.verdict();

  // What keeps the counts from being judged wins over what they say. A test that is skipped on both sides asked for the
  // same on both.
  const bool is_skipped = old_window->outcomes.size() == 1 && new_window->outcomes.size() == 1 &&
                          old_window->outcomes.begin()->first == "skipped" &&
                          new_window->outcomes.begin()->first == "skipped";
  std::string faults;
  for (const auto& [window, side] : {std::pair(old_window, "OLD"), std::pair(new_window, "NEW")}) {
    const std::string fault = is_skipped ? std::string() : outcome_fault(*window, side);
    if (!fault.empty()) faults += (faults.empty() ? "" : ", ") + fault;
  }
  if (!faults.empty()) {
    out.verdict = Verdict::errored;
    out.reason = faults;
    return out;
  }
  for (const auto& [window, side] : {std::pair(old_window, "OLD"), std::pair(new_window, "NEW")}) {
    if (std::string fault = loss_fault(*window, side); !fault.empty()) {
      out.verdict = Verdict::inconclusive;
      out.reason = fault;
      return out;
    }
  }
  if (!have_calls && !have_entries) {
    out.verdict = Verdict::incomparable;
    out.reason = "no count was measured on both sides";
    for (const auto& [window, side] : {std::pair(old_window, "OLD"), std::pair(new_window, "NEW")}) {
      if (window->uncounted > 0) {
        out.reason = fmt::format("{} of {} repetitions of {} were not counted", window->uncounted, window->n, side);
        break;
      }
    }
  }
  return out;
}

}  // namespace syscost::bench::stats
