// SPDX-License-Identifier: MIT
#include "judge/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "judge/comparability.h"
#include "judge/count_policy.h"
#include "judge/direction.h"
#include "model/row_parser.h"

namespace syscost::bench::judge {
namespace {

/// The same syscall on both sides; null where a side did not make it.
struct Both {
  const stats::SyscallSummary* old_one = nullptr;
  const stats::SyscallSummary* new_one = nullptr;

  std::array<const stats::SyscallSummary*, 2> sides() const { return {old_one, new_one}; }
};

std::map<std::string_view, Both> match_syscalls(const stats::WindowSummary& old_window,
                                                const stats::WindowSummary& new_window) {
  std::map<std::string_view, Both> both;
  for (const stats::SyscallSummary* one : old_window.compared()) both[one->name].old_one = one;
  for (const stats::SyscallSummary* one : new_window.compared()) both[one->name].new_one = one;
  if (!old_window.sync_opens || !new_window.sync_opens) both.erase(model::kSyncOpens);
  return both;
}

/// A syscall that was not made has no row: all its counts are 0.
const stats::CallFigures& figures_of(const stats::SyscallSummary* syscall, bool tells_per_run) {
  static const stats::CallFigures kNone = [] {
    stats::CallFigures none;
    none.calls = none.entries = none.errors = none.timely = none.kernel_ns = none.latency_count =
        stats::Spread{1, 0, 0, 0};
    none.errnos.emplace();
    return none;
  }();
  if (syscall == nullptr) return kNone;
  return tells_per_run ? *syscall : syscall->with_per_run();
}

stats::Numbers per_run_calls(const stats::SyscallSummary* syscall) {
  return syscall == nullptr ? stats::Spread{1, 0, 0, 0} : syscall->per_run_calls;
}

stats::Spread count_of(const stats::ErrnoNumbers& errnos, const std::string& name) {
  const auto found = errnos.find(name);
  return found == errnos.end() ? stats::Spread{1, 0, 0, 0} : found->second;
}

/// True when every syscall of both sides has `field`.
bool all_have(const std::map<std::string_view, Both>& syscalls, stats::Numbers stats::CallFigures::*field) {
  return std::all_of(syscalls.begin(), syscalls.end(), [&](const auto& entry) {
    return figures_of(entry.second.old_one, true).*field && figures_of(entry.second.new_one, true).*field;
  });
}

/// How two windows' counts can be compared.
struct Passes {
  double per_call = 1;             ///< A whole call of a repetition, in the unit of the windows' figures.
  double rounding = 0;             ///< As in Tolerance.
  double cut_off = 0;              ///< Repetitions of one side may differ by so much for their passes alone.
  double unseen = 0;               ///< As there.
  bool must_tell_per_run = false;  ///< Their lengths differ, so that per-run calls make figures per iteration differ.

  /// For counts of a pass: the same as `whole` is for whole counts.
  Tolerance of_pass(Tolerance whole) const {
    whole.abs *= per_call;
    whole.rounding = rounding;
    whole.unseen = unseen;
    return whole;
  }
};

/// True if each side knows which calls fail. Else one of them would leave out calls that the other counts.
bool knows_errnos(const std::map<std::string_view, Both>& syscalls) {
  return std::all_of(syscalls.begin(), syscalls.end(), [](const auto& entry) {
    return figures_of(entry.second.old_one, true).errnos && figures_of(entry.second.new_one, true).errnos;
  });
}

/// Counts that chance changes also where one thread makes the calls, in a test with its cause.
struct Chance {
  bool (*is_in)(const stats::WindowSummary& window);
  bool needs_both;  ///< Sides: what only one of them does is its own.
  std::vector<std::string_view> syscalls;
  std::string_view why;
};

const std::array<Chance, 4>& chances() {
  static constexpr std::string_view kRandom = "random numbers decide how many it draws";
  static const std::array<Chance, 4> kAll = {{
      {[](const stats::WindowSummary& window) { return window.opens_kernel_files; },
       false,
       {"read", "readv", "pread64", "preadv", "preadv2", "lseek"},
       "it reads files of /proc or /sys, which the kernel writes anew each time"},
      // As libunwind does: by mincore, or by a write of them into a pipe.
      {[](const stats::WindowSummary& window) { return window.find("mincore") != nullptr; },
       true,
       {"mincore", "write", "read"},
       "it asks which addresses are mapped (mincore), and each process has others"},
      {[](const stats::WindowSummary& window) { return window.find("getrandom") != nullptr; },
       true,
       {"getrandom"},
       kRandom},
      // mkstemp() and mkdtemp() draw again where a number would make some names more likely.
      {[](const stats::WindowSummary& window) {
         static constexpr std::array<std::string_view, 3> kMake = {"openat", "open", "mkdir"};
         return std::any_of(kMake.begin(), kMake.end(), [&](auto name) { return window.find(name) != nullptr; });
       },
       true,
       {"getrandom"},
       kRandom},
  }};
  return kAll;
}

/// The first test that needs something makes the calls for it.
constexpr std::string_view kOtherOrder = "other tests ran before it";

class CountJudge {
 public:
  /// `is_exact`: one thread made the calls, so that also syscalls that are volatile by nature are repeated exactly.
  CountJudge(const Passes& passes, const CountPolicy& policy, bool is_exact, Comparison& out)
      : passes_(passes), policy_(policy), is_exact_(is_exact), out_(out) {}

  void compare(const std::map<std::string_view, Both>& syscalls, stats::Numbers stats::CallFigures::*field) {
    out_.counted = field;
    out_.tells_per_run = !syscalls.empty();
    for (const auto& [name, both] : syscalls) compare_calls(name, both, field);
    for (const auto& [name, both] : syscalls) compare_errnos(name, both);
    auto order = [](const Delta& delta) {
      const int rank = delta.change == Change::grew ? 0 : delta.change == Change::shrank ? 1 : 2;
      return std::tuple(!delta.errno_name.empty(), rank, -std::abs(delta.new_count.median - delta.old_count.median),
                        std::string_view(delta.syscall), std::string_view(delta.errno_name), delta.is_per_run);
    };
    std::sort(out_.deltas.begin(), out_.deltas.end(),
              [&](const Delta& a, const Delta& b) { return order(a) < order(b); });
  }

  /// Syscalls that cannot be judged.
  const std::set<std::string_view>& undecided() const { return undecided_; }

 private:
  Delta delta_of(std::string_view syscall, const std::string& errno_name, const Both& both) const {
    Delta delta;
    delta.syscall = syscall;
    delta.errno_name = errno_name;
    delta.is_volatile = is_volatile(syscall, both);
    const auto sides = both.sides();
    const auto some_side = [&](auto is) { return is(*out_.old_window) || is(*out_.new_window); };
    const bool is_for_memory = std::any_of(sides.begin(), sides.end(), [](const stats::SyscallSummary* one) {
      return one != nullptr && model::has_class(one->classes, "volatile");
    });
    if (is_for_memory && some_side(std::mem_fn(&stats::WindowSummary::is_of_threaded_program))) {
      delta.chance = "the heap is as the program's threads left it";
    }
    if (some_side(std::mem_fn(&stats::WindowSummary::is_reordered))) delta.chance = kOtherOrder;
    if (!errno_name.empty()) return delta;
    const std::string_view name = syscall.substr(0, syscall.find(' '));
    for (const Chance& one : chances()) {
      const bool is_one = std::find(one.syscalls.begin(), one.syscalls.end(), name) != one.syscalls.end();
      const bool is_in =
          one.needs_both ? one.is_in(*out_.old_window) && one.is_in(*out_.new_window) : some_side(one.is_in);
      if (delta.chance.empty() && is_one && is_in) delta.chance = one.why;
    }
    return delta;
  }

  bool is_volatile(std::string_view syscall, const Both& both) const {
    const auto sides = both.sides();
    if (family_of(syscall) == Family::unjudged) return true;
    return std::any_of(sides.begin(), sides.end(), [&](const stats::SyscallSummary* one) {
      return one != nullptr && (is_exact_ ? policy_.is_named_volatile(syscall, one->classes)
                                          : policy_.is_volatile(syscall, one->classes));
    });
  }
  Tolerance tolerance_of(std::string_view syscall, const Both& both) const {
    return policy_.tolerance_of(syscall, (both.new_one != nullptr ? both.new_one : both.old_one)->classes);
  }

  void compare_calls(std::string_view name, const Both& both, stats::Numbers stats::CallFigures::*field) {
    const bool tells_per_run = (both.old_one == nullptr || both.old_one->per_run_calls) &&
                               (both.new_one == nullptr || both.new_one->per_run_calls);
    out_.tells_per_run = out_.tells_per_run && tells_per_run;
    const stats::Spread& old_count = *(figures_of(both.old_one, tells_per_run).*field);
    const stats::Spread& new_count = *(figures_of(both.new_one, tells_per_run).*field);
    if (!tells_per_run && cannot_tell(name, both, old_count, new_count)) return;
    const Tolerance whole = tolerance_of(name, both);
    Delta delta = delta_of(name, "", both);
    delta.tells_per_run = tells_per_run;
    delta.is_new_wait = both.old_one == nullptr && is_wait(name);
    if (delta.is_new_wait && policy_.gates_waits()) {
      delta.is_volatile = policy_.is_named_volatile(name, both.new_one->classes);
      delta.is_red_wait = !delta.is_volatile;
    }
    add(delta, old_count, new_count, passes_.of_pass(whole));
    if (!tells_per_run) return;
    Delta per_run = std::move(delta);
    per_run.is_per_run = true;
    add(std::move(per_run), *per_run_calls(both.old_one), *per_run_calls(both.new_one), whole);
  }

  void compare_errnos(std::string_view syscall, const Both& both) {
    const bool tells_per_run = (both.old_one == nullptr || both.old_one->per_run_errors) &&
                               (both.new_one == nullptr || both.new_one->per_run_errors);
    const std::optional<stats::ErrnoNumbers>& of_old = figures_of(both.old_one, tells_per_run).errnos;
    const std::optional<stats::ErrnoNumbers>& of_new = figures_of(both.new_one, tells_per_run).errnos;
    if (!of_old || !of_new) {                                          // not measured is not 0
      if (both.old_one == nullptr || both.new_one == nullptr) return;  // a side that did not make it measured nothing
      out_.lacks_errnos_of_old = out_.lacks_errnos_of_old || (of_new && !of_old);
      out_.lacks_errnos_of_new = out_.lacks_errnos_of_new || (of_old && !of_new);
      return;
    }
    const stats::ErrnoNumbers& old_errnos = *of_old;
    const stats::ErrnoNumbers& new_errnos = *of_new;
    static const stats::ErrnoNumbers kNone;
    const stats::ErrnoNumbers& old_per_run =
        tells_per_run && both.old_one != nullptr ? both.old_one->per_run_errnos : kNone;
    const stats::ErrnoNumbers& new_per_run =
        tells_per_run && both.new_one != nullptr ? both.new_one->per_run_errnos : kNone;
    std::set<std::string> names;
    for (const stats::ErrnoNumbers* errnos : {&old_errnos, &new_errnos, &old_per_run, &new_per_run}) {
      for (const auto& [name, spread] : *errnos) names.insert(name);
    }
    const Tolerance whole = tolerance_of(syscall, both);
    for (const std::string& name : names) {
      const stats::Spread old_count = count_of(old_errnos, name);
      const stats::Spread new_count = count_of(new_errnos, name);
      const stats::Spread old_start = count_of(old_per_run, name);
      if (!tells_per_run && cannot_tell(syscall, both, old_count, new_count)) continue;
      Delta delta = delta_of(syscall, name, both);
      delta.tells_per_run = tells_per_run;
      delta.is_volatile = delta.is_volatile || stats::is_too_early(syscall, name);
      delta.is_new_errno = old_count.max == 0 && old_start.max == 0;
      Delta per_run = delta;
      per_run.is_per_run = true;
      add(std::move(delta), old_count, new_count, passes_.of_pass(whole));
      add(std::move(per_run), old_start, count_of(new_per_run, name), whole);
    }
  }

  /// True, and noted, where per-run calls may hide a change or look like one.
  bool cannot_tell(std::string_view syscall, const Both& both, const stats::Spread& old_count,
                   const stats::Spread& new_count) {
    if (!passes_.must_tell_per_run || (old_count.max == 0 && new_count.max == 0)) return false;
    if (!is_volatile(syscall, both)) undecided_.insert(syscall);
    return true;
  }

  void add(Delta delta, const stats::Spread& old_count, const stats::Spread& new_count, const Tolerance& tolerance) {
    const bool is_constant = old_count.is_exact() && new_count.is_exact() && old_count.min == new_count.min;
    const bool is_repeated =
        is_exact_ && delta.chance.empty() && is_repeated_in(old_count) && is_repeated_in(new_count);
    // More syncs are red, and fewer are, too.
    const bool is_red_both_ways = family_of(delta.syscall) == Family::syncs;
    if (delta.is_gated() && !is_repeated && !is_constant) out_.varying += is_red_both_ways ? 2 : 1;
    delta.change = compare_counts(old_count, new_count, tolerance);
    if (delta.change == Change::none) return;
    delta.is_new_wait = delta.is_new_wait && delta.change == Change::grew;
    delta.is_red_wait = delta.is_red_wait && delta.is_new_wait;
    delta.is_in_doubt = delta.is_gated() && !is_repeated && delta.change != Change::near;
    const bool overlap = old_count.min <= new_count.max && new_count.min <= old_count.max;
    delta.rule = !delta.is_gated()                                            ? Rule::not_gated
                 : delta.is_in_doubt                                          ? Rule::chance
                 : delta.is_red_wait                                          ? Rule::new_wait
                 : delta.change != Change::near                               ? Rule::exact
                 : overlap && !(old_count.is_exact() && new_count.is_exact()) ? Rule::spread
                                                                              : Rule::tolerance;
    delta.old_count = old_count;
    delta.new_count = new_count;
    // A side that did not make the call did not make it in any of its repetitions.
    delta.old_count.n = out_.old_window->n;
    delta.new_count.n = out_.new_window->n;
    out_.deltas.push_back(std::move(delta));
  }

  /// True if repetitions agree, up to a call that the end of a pass may cut off.
  bool is_repeated_in(const stats::Spread& count) const {
    constexpr double kOfDivision = 1e-9;
    return count.max - count.min <= passes_.cut_off * (1 + kOfDivision);
  }

  const Passes& passes_;
  const CountPolicy& policy_;
  const bool is_exact_;
  Comparison& out_;
  std::set<std::string_view> undecided_;
};

/// Counts per iteration of passes that differ in length agree up to one whole call of the shorter: 1 call in 1000 and 1
/// in 1050 are the same.
Passes passes_of(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window) {
  Passes passes;
  if (!old_window.counted_passes || !new_window.counted_passes) return passes;
  const stats::Spread& old_passes = *old_window.counted_passes;
  const double shortest = std::min(old_passes.min, new_window.counted_passes->min);
  const double longest = std::max(old_passes.max, new_window.counted_passes->max);
  passes.per_call = passes.cut_off = 1 / shortest;
  if (shortest == longest) return passes;
  passes.rounding = 1 / shortest;
  passes.unseen = 1 / (old_passes.min * static_cast<double>(old_window.n));
  // All passes of a loop continue the same body; none begins again.
  passes.must_tell_per_run = old_window.loop.empty() || new_window.loop.empty();
  return passes;
}

}  // namespace

bool is_of_one_thread(const stats::WindowSummary& window) {
  if (window.has_other_threads) return !*window.has_other_threads;
  return std::none_of(window.syscalls.begin(), window.syscalls.end(), [](const stats::SyscallSummary& one) {
    return one.is_wait && model::has_class(one.classes, "volatile");
  });
}

Change compare_counts(const stats::Spread& old_count, const stats::Spread& new_count, const Tolerance& tolerance) {
  const bool is_exact = old_count.is_exact() && new_count.is_exact();
  if (is_exact && old_count.min == new_count.min) return Change::none;
  const double rounding = is_exact && old_count.max > 0 ? tolerance.rounding : 0;
  const double allowed = std::max({tolerance.abs, tolerance.rel * old_count.median, rounding});
  if (new_count.min - old_count.max > allowed) {
    return old_count.max == 0 && new_count.max < tolerance.unseen ? Change::near : Change::grew;
  }
  if (old_count.min - new_count.max > allowed) return Change::shrank;
  // If its median and range are the same again, a count that varies has not changed.
  return std::tuple(old_count.min, old_count.median, old_count.max) ==
                 std::tuple(new_count.min, new_count.median, new_count.max)
             ? Change::none
             : Change::near;
}

stats::Numbers count_in(const stats::WindowSummary& window, const Delta& delta, const Comparison& row) {
  const stats::SyscallSummary* const one = window.find(delta.syscall);
  if (one == nullptr && delta.syscall == model::kSyncOpens) return std::nullopt;  // not known
  const stats::CallFigures& figures = figures_of(one, delta.tells_per_run);
  if (delta.errno_name.empty()) return delta.is_per_run ? per_run_calls(one) : figures.*row.counted;
  if (!figures.errnos) return std::nullopt;
  static const stats::ErrnoNumbers kNone;
  const stats::ErrnoNumbers& errnos = !delta.is_per_run ? *figures.errnos
                                      : one == nullptr  ? kNone
                                                        : one->per_run_errnos;
  return count_of(errnos, delta.errno_name);
}

Comparison compare_windows(const stats::WindowSummary* old_window, const stats::WindowSummary* new_window,
                           const CountPolicy& policy) {
  Comparison out;
  out.old_window = old_window;
  out.new_window = new_window;
  if (old_window == nullptr || new_window == nullptr) {
    out.verdict = old_window == nullptr ? Verdict::added : Verdict::missing;
    out.rule = Rule::one_side;
    out.name = old_window == nullptr ? new_window->name : old_window->name;
    if (old_window == nullptr && new_window->outcomes.contains("failed")) out.reason = "failed in NEW";
    return out;
  }
  out.name = pair_name(old_window->name, new_window->name);
  if (out.reason = why_incomparable(*old_window, *new_window); !out.reason.empty()) {
    out.verdict = Verdict::incomparable;
    out.rule = Rule::no_common_count;
    return out;
  }
  const auto syscalls = match_syscalls(*old_window, *new_window);
  const bool have_calls = all_have(syscalls, &stats::CallFigures::calls) && old_window->calls && new_window->calls;
  const bool have_entries =
      all_have(syscalls, &stats::CallFigures::entries) && old_window->entries && new_window->entries;
  out.counts_entries = !have_calls && have_entries;
  const Passes passes = passes_of(*old_window, *new_window);
  const CountPolicy own_policy = rules_of(policy, old_window, new_window);
  const bool is_exact = is_of_one_thread(*old_window) && is_of_one_thread(*new_window);
  CountJudge judge(passes, own_policy, is_exact, out);
  if (have_calls || have_entries) {
    const bool have_timely = have_calls && all_have(syscalls, &stats::CallFigures::timely) && knows_errnos(syscalls);
    judge.compare(syscalls, have_timely  ? &stats::CallFigures::timely
                            : have_calls ? &stats::CallFigures::calls
                                         : &stats::CallFigures::entries);
    out.undecided = judge.undecided();
    conclude(out);
  }

  // A reason not to judge the counts takes precedence over their verdict.
  if (std::optional<Fault> fault = find_fault(*old_window, *new_window)) {
    out.verdict = fault->verdict;
    out.rule = fault->verdict == Verdict::errored ? Rule::outcome : Rule::losses;
    out.reason = std::move(fault->reason);
    out.has_fault = true;
  } else if (!have_calls && !have_entries) {
    out.verdict = Verdict::incomparable;
    out.rule = Rule::no_common_count;
    out.reason = why_not_counted(*old_window, *new_window);
  }
  return out;
}

}  // namespace syscost::bench::judge
