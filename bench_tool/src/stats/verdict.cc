// SPDX-License-Identifier: MIT
#include "stats/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
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
const CallFigures& figures_of(const SyscallSummary* syscall, bool tells_fixed) {
  static const CallFigures kNone = [] {
    CallFigures none;
    none.calls = none.entries = none.errors = none.kernel_ns = none.latency_count = Spread{1, 0, 0, 0};
    return none;
  }();
  if (syscall == nullptr) return kNone;
  return tells_fixed ? *syscall : syscall->with_fixed();
}

Spread fixed_calls(const SyscallSummary* syscall) {
  return syscall == nullptr ? Spread{1, 0, 0, 0} : *syscall->fixed_calls;
}

Spread count_of(const ErrnoNumbers& errnos, const std::string& name) {
  const auto found = errnos.find(name);
  return found == errnos.end() ? Spread{1, 0, 0, 0} : found->second;
}

/// True when every syscall of both sides has `field`.
bool all_have(const std::map<std::string_view, Both>& syscalls, Numbers CallFigures::*field) {
  return std::all_of(syscalls.begin(), syscalls.end(), [&](const auto& entry) {
    return figures_of(entry.second.old_one, true).*field && figures_of(entry.second.new_one, true).*field;
  });
}

/// How two windows' counts can be compared.
struct Passes {
  Tolerance per_pass;            ///< For counts of a pass, in the unit of the windows' figures.
  Tolerance whole;               ///< For whole counts.
  bool must_tell_fixed = false;  ///< Their lengths differ, so that fixed calls make figures per iteration differ.
};

class Judge {
 public:
  Judge(const Passes& passes, Comparison& out) : passes_(passes), out_(out) {}

  void compare(const std::map<std::string_view, Both>& syscalls, Numbers CallFigures::*field) {
    out_.tells_fixed = !syscalls.empty();
    for (const auto& [name, both] : syscalls) compare_calls(name, both, field);
    for (const auto& [name, both] : syscalls) compare_errnos(name, both);
    auto order = [](const Delta& delta) {
      const int rank = delta.change == Change::grew ? 0 : delta.change == Change::shrank ? 1 : 2;
      return std::tuple(!delta.errno_name.empty(), rank, -std::abs(delta.new_count.median - delta.old_count.median),
                        std::string_view(delta.syscall), std::string_view(delta.errno_name), delta.is_fixed);
    };
    std::sort(out_.deltas.begin(), out_.deltas.end(),
              [&](const Delta& a, const Delta& b) { return order(a) < order(b); });
  }

  Verdict verdict() const {
    return grew_                 ? Verdict::regressed
           : !undecided_.empty() ? Verdict::inconclusive
           : shrank_             ? Verdict::improved
           : is_near_            ? Verdict::near
                                 : Verdict::same;
  }
  /// Syscalls of which nothing can be said.
  const std::set<std::string_view>& undecided() const { return undecided_; }

 private:
  static Delta delta_of(std::string_view syscall, const std::string& errno_name, const Both& both) {
    Delta delta;
    delta.syscall = syscall;
    delta.errno_name = errno_name;
    delta.is_volatile = both.is_volatile();
    return delta;
  }

  void compare_calls(std::string_view name, const Both& both, Numbers CallFigures::*field) {
    const bool tells_fixed = (both.old_one == nullptr || both.old_one->fixed_calls) &&
                             (both.new_one == nullptr || both.new_one->fixed_calls);
    out_.tells_fixed = out_.tells_fixed && tells_fixed;
    const Spread& old_count = *(figures_of(both.old_one, tells_fixed).*field);
    const Spread& new_count = *(figures_of(both.new_one, tells_fixed).*field);
    if (!tells_fixed && cannot_tell(name, both, old_count, new_count)) return;
    add(delta_of(name, "", both), old_count, new_count, passes_.per_pass);
    if (!tells_fixed) return;
    Delta fixed = delta_of(name, "", both);
    fixed.is_fixed = true;
    add(std::move(fixed), fixed_calls(both.old_one), fixed_calls(both.new_one), passes_.whole);
  }

  void compare_errnos(std::string_view syscall, const Both& both) {
    const bool tells_fixed = (both.old_one == nullptr || both.old_one->fixed_errors) &&
                             (both.new_one == nullptr || both.new_one->fixed_errors);
    const ErrnoNumbers& old_errnos = figures_of(both.old_one, tells_fixed).errnos;
    const ErrnoNumbers& new_errnos = figures_of(both.new_one, tells_fixed).errnos;
    static const ErrnoNumbers kNone;
    const ErrnoNumbers& old_fixed = tells_fixed && both.old_one != nullptr ? both.old_one->fixed_errnos : kNone;
    const ErrnoNumbers& new_fixed = tells_fixed && both.new_one != nullptr ? both.new_one->fixed_errnos : kNone;
    std::set<std::string> names;
    for (const ErrnoNumbers* errnos : {&old_errnos, &new_errnos, &old_fixed, &new_fixed}) {
      for (const auto& [name, spread] : *errnos) names.insert(name);
    }
    for (const std::string& name : names) {
      const Spread old_count = count_of(old_errnos, name);
      const Spread new_count = count_of(new_errnos, name);
      const Spread old_start = count_of(old_fixed, name);
      if (!tells_fixed && cannot_tell(syscall, both, old_count, new_count)) continue;
      Delta delta = delta_of(syscall, name, both);
      delta.is_new_errno = old_count.max == 0 && old_start.max == 0;
      Delta fixed = delta;
      fixed.is_fixed = true;
      add(std::move(delta), old_count, new_count, passes_.per_pass);
      add(std::move(fixed), old_start, count_of(new_fixed, name), passes_.whole);
    }
  }

  /// True, and noted, where fixed calls may hide a change or look like one.
  bool cannot_tell(std::string_view syscall, const Both& both, const Spread& old_count, const Spread& new_count) {
    if (!passes_.must_tell_fixed || (old_count.max == 0 && new_count.max == 0)) return false;
    if (!both.is_volatile()) undecided_.insert(syscall);
    return true;
  }

  void add(Delta delta, const Spread& old_count, const Spread& new_count, const Tolerance& tolerance) {
    delta.change = compare_counts(old_count, new_count, tolerance);
    if (delta.change == Change::none) return;
    if (delta.is_gated()) {
      (delta.change == Change::grew ? grew_ : delta.change == Change::shrank ? shrank_ : is_near_) = true;
    }
    delta.old_count = old_count;
    delta.new_count = new_count;
    out_.deltas.push_back(std::move(delta));
  }

  const Passes& passes_;
  Comparison& out_;
  std::set<std::string_view> undecided_;
  bool grew_ = false;
  bool shrank_ = false;
  bool is_near_ = false;
};

std::optional<KernelSplit> split_kernel_time(const std::map<std::string_view, Both>& syscalls, bool tells_fixed) {
  KernelSplit split;
  for (const auto& [name, both] : syscalls) {
    if (both.is_wait()) continue;
    const CallFigures& old_figures = figures_of(both.old_one, tells_fixed);
    const CallFigures& new_figures = figures_of(both.new_one, tells_fixed);
    const Numbers& n0 = old_figures.latency_count;
    const Numbers& n1 = new_figures.latency_count;
    const Numbers& t0 = old_figures.kernel_ns;
    const Numbers& t1 = new_figures.kernel_ns;
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
Passes passes_of(const WindowSummary& old_window, const WindowSummary& new_window, const Tolerance& per_call) {
  Passes passes{per_call, per_call};
  if (!old_window.counted_passes || !new_window.counted_passes) return passes;
  const Spread& old_passes = *old_window.counted_passes;
  const double shortest = std::min(old_passes.min, new_window.counted_passes->min);
  const double longest = std::max(old_passes.max, new_window.counted_passes->max);
  passes.per_pass.abs /= shortest;
  if (shortest == longest) return passes;
  passes.per_pass.rounding = 1 / shortest;
  passes.per_pass.unseen = 1 / (old_passes.min * static_cast<double>(old_window.n));
  // All passes of a loop run the same body on: none begins anew.
  passes.must_tell_fixed = old_window.loop.empty() || new_window.loop.empty();
  return passes;
}

/// `write: its fixed calls are not told apart, and ...`.
std::string undecided_reason(const std::set<std::string_view>& syscalls, const WindowSummary& old_window,
                             const WindowSummary& new_window) {
  auto lengths = [](const Spread& passes) {
    return passes.is_exact() ? fmt::format("{:.0f}", passes.max)
                             : fmt::format("{:.0f} to {:.0f}", passes.min, passes.max);
  };
  return fmt::format(
      "{}: counted in passes of {} iterations in OLD and {} in NEW, and what a run of the loop calls "
      "whatever its length is not known apart",
      fmt::join(syscalls, ", "), lengths(*old_window.counted_passes), lengths(*new_window.counted_passes));
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
    if (old_count.max == 0) return new_count.max < tolerance.unseen ? Change::near : Change::grew;
    const double difference = std::abs(new_count.min - old_count.min);
    if (tolerance.rounding > 0 && difference <= tolerance.rounding) return Change::near;
    return new_count.min > old_count.min ? Change::grew : Change::shrank;
  }
  if (old_count.max == 0) return new_count.max < tolerance.unseen ? Change::near : Change::grew;
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
  const bool have_calls = all_have(syscalls, &CallFigures::calls) && old_window->calls && new_window->calls;
  const bool have_entries = all_have(syscalls, &CallFigures::entries) && old_window->entries && new_window->entries;
  out.counts_entries = !have_calls && have_entries;
  const Passes passes = passes_of(*old_window, *new_window, tolerance);
  Judge judge(passes, out);
  if (have_calls || have_entries) {
    judge.compare(syscalls, have_calls ? &CallFigures::calls : &CallFigures::entries);
    out.kernel_split = split_kernel_time(syscalls, out.tells_fixed);
  }
  out.verdict = judge.verdict();
  if (!judge.undecided().empty()) out.reason = undecided_reason(judge.undecided(), *old_window, *new_window);

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
