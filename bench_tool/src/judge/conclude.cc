// SPDX-License-Identifier: MIT
//
// conclude: from the counts that changed to the verdict of a test, and the decision of counts that are in doubt.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/direction.h"
#include "judge/evidence.h"
#include "judge/verdict.h"
#include "model/site.h"

namespace syscost::bench::judge {

namespace {

/// The calls of OLD, of a pass or per run, and those that NEW alone has; as if nothing had changed.
std::vector<CallCount> unchanged_calls(const Comparison& row, bool is_per_run) {
  std::vector<CallCount> calls;
  for (const stats::SyscallSummary* one : row.old_window->compared()) {
    const stats::Numbers numbers = is_per_run ? one->per_run_calls : one->count();
    const double before = numbers ? numbers->median : 0;
    calls.push_back({one->name, before, before});
    if (!one->errnos || is_per_run) continue;
    for (const auto& [errno_name, spread] : *one->errnos) {
      calls.back().failed_before += spread.median;
      if (errno_name == "EINTR") calls.back().interrupted = spread.median;
    }
    calls.back().failed_after = calls.back().failed_before;
  }
  for (const stats::SyscallSummary* one : row.new_window->compared()) {
    const bool is_known =
        std::any_of(calls.begin(), calls.end(), [&](const CallCount& call) { return call.syscall == one->name; });
    if (!is_known) calls.push_back({one->name});
  }
  return calls;
}

/// The direction that a person sees in the changes that are certain, of the calls of a pass or of the per-run calls.
Direction direction_of(const Comparison& row, bool is_per_run, bool heeds_accepts) {
  std::vector<CallCount> calls = unchanged_calls(row, is_per_run);
  std::vector<FailureCount> failures;
  for (const Delta& delta : row.deltas) {
    if (delta.is_per_run != is_per_run || !delta.is_certain_change()) continue;
    CallCount& call =
        *std::find_if(calls.begin(), calls.end(), [&](const CallCount& one) { return one.syscall == delta.syscall; });
    const double before = delta.old_count.median;
    const double after = delta.new_count.median;
    const bool is_accepted = heeds_accepts && delta.is_accepted;
    if (delta.errno_name.empty()) {
      call.before = before;
      call.after = after;
      call.is_accepted = is_accepted;
    } else {
      call.failed_after += after - before;
      if (delta.errno_name == "ENOSYS") {
        call.absent += after - before;
      } else if (!is_accepted) {
        failures.push_back({call.syscall, delta.errno_name, before, after});
      }
    }
  }
  return direction_of(calls, failures);
}

/// The amount that NEW left: in its first runs, else in the further run that listed it; nullopt if none did.
std::optional<double> left_in_new(const Comparison& row, stats::Numbers stats::WindowSummary::*left,
                                  const std::optional<double>& again) {
  const stats::Numbers& first = row.new_window->*left;
  return first ? first->min : again;
}

/// True if it is known that NEW left no more than OLD.
bool leaves_no_more(const Comparison& row, stats::Numbers stats::WindowSummary::*left,
                    const std::optional<double>& again) {
  const stats::Numbers& before = row.old_window->*left;
  const stats::Numbers& first = row.new_window->*left;
  const std::optional<double> most = first ? first->max : again;
  return most && *most <= (before ? before->max : 0);
}

/// `by_calls`: what more stays than in OLD, as far as calls tell. `left`: the columns that know it. A reason is said
/// for what the columns tell, with `text`. `again`: what NEW left in a further run.
void judge_leak(double by_calls, stats::Numbers stats::WindowSummary::*left, const std::optional<double>& again,
                bool needs_calls, std::string_view text, bool is_accepted, Comparison& row) {
  const stats::Numbers& before = row.old_window->*left;
  const std::optional<double> after = left_in_new(row, left, again);
  const bool is_listed = before && after;
  // If it is unknown what OLD left, nothing left clears NEW, and something makes no red.
  const double more = after.value_or(0) - (before ? before->max : 0);
  const bool has_leak = is_listed ? more > 0 && (by_calls > 0 || !needs_calls) : by_calls > 0 && (!after || more > 0);
  if (!has_leak) return;
  row.has_leak = true;
  if (after) row.add_reason(fmt::format(fmt::runtime(text), more));
  if (row.verdict == Verdict::regressed || is_accepted) return;
  // Another thread may hold a descriptor at that moment.
  const bool is_certain = is_listed && is_of_one_thread(*row.old_window) && is_of_one_thread(*row.new_window);
  row.verdict = is_certain ? Verdict::regressed : Verdict::in_doubt;
  row.rule = Rule::leaks;
  if (!is_listed) row.add_reason("a leak? --syscost_leaks on both sides tells");
}

void judge_leaks(const Direction& of_pass, bool is_accepted, Comparison& row) {
  judge_leak(of_pass.open.more, &stats::WindowSummary::descriptors_left, row.descriptors_left_again, false,
             "descriptors left open: {:+g}", is_accepted, row);
  // Mappings grow for many reasons, as the heap.
  judge_leak(of_pass.mapped.more, &stats::WindowSummary::mapped_bytes_left, row.mapped_left_again, true,
             "bytes left mapped: {:+g}", is_accepted, row);
}

/// `write: its per-run calls are not told apart, and ...`.
std::string undecided_reason(const std::set<std::string_view>& syscalls, const stats::WindowSummary& old_window,
                             const stats::WindowSummary& new_window) {
  auto lengths = [](const stats::Spread& passes) {
    return passes.is_exact() ? fmt::format("{:.0f}", passes.max)
                             : fmt::format("{:.0f} to {:.0f}", passes.min, passes.max);
  };
  return fmt::format(
      "{}: counted in passes of {} iterations in OLD and {} in NEW, and the calls made once per run are unknown",
      fmt::join(syscalls, ", "), lengths(*old_window.counted_passes), lengths(*new_window.counted_passes));
}

Rule rule_of_growth(const Direction& direction) {
  return direction.grew == Grew::syncs ? Rule::syncs : direction.grew == Grew::failures ? Rule::failures : Rule::growth;
}

/// The rule of a verdict of counts.
Rule rule_of(const Comparison& row, const Direction& worst) {
  switch (row.verdict) {
    case Verdict::regressed:
      return rule_of_growth(worst);
    case Verdict::inconclusive:
      return Rule::per_run;
    case Verdict::in_doubt:
      return Rule::chance;
    case Verdict::exchanged:
      return Rule::exchange;
    case Verdict::improved:
      return Rule::fewer;
    case Verdict::near: {
      const auto is_spread = [](const Delta& one) { return one.rule == Rule::spread; };
      const auto is_told = [](const Delta& one) { return one.rule == Rule::further_runs; };
      if (std::ranges::any_of(row.deltas, is_told)) return Rule::further_runs;
      return std::ranges::any_of(row.deltas, is_spread) ? Rule::spread : Rule::tolerance;
    }
    default:
      return Rule::equal;
  }
}

void judge_row(Comparison& row, bool heeds_accepts) {
  const auto has = [&](auto is) { return std::any_of(row.deltas.begin(), row.deltas.end(), is); };
  const auto is_open = [&](const Delta& delta) { return delta.is_in_doubt && !(heeds_accepts && delta.is_accepted); };
  const Direction of_pass = direction_of(row, false, heeds_accepts);
  const Direction per_run = direction_of(row, true, heeds_accepts);
  const Word word = std::max(of_pass.word, per_run.word);
  const auto is_red_wait = [&](const Delta& delta) {
    return delta.is_red_wait && delta.is_certain_change() && !(heeds_accepts && delta.is_accepted);
  };
  const bool is_red = word == Word::red || has(is_red_wait);
  row.verdict = is_red                    ? Verdict::regressed
                : !row.undecided.empty()  ? Verdict::inconclusive
                : has(is_open)            ? Verdict::in_doubt
                : word == Word::exchanged ? Verdict::exchanged
                : word == Word::improved  ? Verdict::improved
                : has([](const Delta& delta) { return delta.is_gated() && delta.change == Change::near; })
                    ? Verdict::near
                    : Verdict::same;
  row.rule = rule_of(row, of_pass.word == Word::red ? of_pass : per_run);
  if (is_red && word != Word::red) row.rule = Rule::new_wait;
  row.reason.clear();
  for (const Direction* direction : {&of_pass, &per_run}) {
    for (const std::string& reason : direction->reasons) {
      if (reason.front() != '+') row.add_reason(reason);  // what grew is among the deltas
    }
    if (!leaves_no_more(row, &stats::WindowSummary::descriptors_left, row.descriptors_left_again)) {
      row.add_reason(direction->open.note);
    }
    if (!leaves_no_more(row, &stats::WindowSummary::mapped_bytes_left, row.mapped_left_again)) {
      row.add_reason(direction->mapped.note);
    }
    row.add_reason(direction->ring_note);
  }
  for (const Delta& delta : row.deltas) {
    if (delta.is_new_wait && delta.change == Change::grew) row.add_reason(delta.wait_text());
  }
  judge_leaks(of_pass, heeds_accepts && row.accepts_leaks, row);
}

bool is_red_or_in_doubt(const Comparison& row) {
  return row.verdict == Verdict::regressed || row.verdict == Verdict::in_doubt;
}

/// `a part is accepted: each file is opened twice now (syscost.toml:12)`; of the whole the verdict says so.
std::string acceptance_text(const Comparison& row) {
  std::string text = row.verdict == Verdict::accepted ? "" : "a part is accepted: ";
  for (const Acceptance& one : row.acceptances) {
    text += fmt::format("{}{} ({})", &one == &row.acceptances.front() ? "" : ", ", one.reason, one.where);
  }
  return text;
}

}  // namespace

std::string Delta::wait_text() const {
  std::string text = fmt::format("a wait that OLD never made: {:g} {}", new_count.median, syscall);
  if (!sites.empty() && !sites.front().site.is_unknown()) text += ", " + model::text_of(sites.front().site);
  return text;
}

void conclude(Comparison& row) {
  judge_row(row, false);
  row.needs_acceptance = !row.acceptances.empty() && is_red_or_in_doubt(row);
  if (row.needs_acceptance) {
    judge_row(row, true);
    if (!is_red_or_in_doubt(row) && row.verdict != Verdict::inconclusive) {
      row.verdict = Verdict::accepted;
      row.rule = Rule::accept;
    }
  }
  if (row.verdict == Verdict::inconclusive) {
    row.reason = undecided_reason(row.undecided, *row.old_window, *row.new_window);
  }
  if (row.needs_acceptance) row.add_reason(acceptance_text(row));
}

namespace {

/// From how many runs on a count can be decided.
std::string runs_needed(double needed, const Comparison& row, RunsAgain which) {
  std::size_t n = 1;
  if (which == RunsAgain::both_sides) {
    while (arrangements(n, n) < needed) ++n;
    return fmt::format("{} runs of each side tell", n);
  }
  const std::size_t of_old = row.old_window->n;
  while (n <= kMostRunsAgain && arrangements(n, of_old) < needed) ++n;
  if (n <= kMostRunsAgain) return fmt::format("{} runs of NEW tell", n);
  return fmt::format("{} run{} of OLD {} too few to tell", of_old, of_old == 1 ? "" : "s", of_old == 1 ? "is" : "are");
}

/// Why counts of `row` that are still in doubt may differ by chance.
std::string why_chance(const Comparison& row) {
  if (row.old_window->has_other_threads.value_or(false) || row.new_window->has_other_threads.value_or(false)) {
    return "other threads made calls";
  }
  const auto all = [&](auto is) {
    return std::all_of(row.deltas.begin(), row.deltas.end(),
                       [&](const Delta& one) { return !one.is_in_doubt || is(one); });
  };
  if (all([](const Delta& one) { return !one.chance.empty(); })) {
    std::set<std::string_view> reasons;
    for (const Delta& one : row.deltas) {
      if (one.is_in_doubt) reasons.insert(one.chance);
    }
    return fmt::format("{}", fmt::join(reasons, ", and "));
  }
  // Counts that agree are in doubt only in files that do not tell which threads made the calls.
  if (all([](const Delta& one) { return one.is_exact(); })) return "other threads may have made calls";
  return "counts vary";
}

}  // namespace

void decide_doubts(std::vector<Comparison>& rows, RunsAgain which) {
  double varying = 0;
  for (const Comparison& row : rows) varying += row.is_by_counts() ? static_cast<double>(row.varying) : 0;
  const double needed = kFalseRedOnceIn * varying;
  for (Comparison& row : rows) {
    if (!row.is_by_counts()) continue;
    bool is_decided = false;
    bool is_open = false;
    for (Delta& delta : row.deltas) {
      if (!delta.is_in_doubt) continue;
      delta.is_in_doubt = arrangements(delta.new_count.n, delta.old_count.n) < needed;
      if (!delta.is_in_doubt) delta.rule = Rule::all_runs;
      is_decided = is_decided || !delta.is_in_doubt;
      is_open = is_open || (delta.is_in_doubt && !delta.is_accepted);
    }
    if (is_decided) conclude(row);
    if (!is_open || row.verdict != Verdict::in_doubt) continue;
    row.add_reason(fmt::format("{}, so it may be chance: {}", why_chance(row), runs_needed(needed, row, which)));
  }
}

}  // namespace syscost::bench::judge
