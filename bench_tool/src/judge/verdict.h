// SPDX-License-Identifier: MIT
//
// Verdict: what became of a test's counts between two runs.
//
// The verdict depends on this test alone. If one thread makes the calls, a program repeats their counts exactly, so no
// significance test is wanted: one more openat is one more openat. Where other threads make calls, too, a difference
// may be chance, and the test is in doubt. Where repetitions differ, ranges are compared instead. A test that cannot
// be judged gets a verdict that says so, never `same`.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "judge/count_policy.h"
#include "judge/time_verdict.h"
#include "stats/sites.h"
#include "stats/window_summary.h"

namespace syscost::bench::judge {

enum class Change { none, near, grew, shrank };
/// If all repetitions agree on both sides, any difference is a change. Else a count grew if all of NEW's lie above all
/// of OLD's, because a difference that only some of them show may be chance.
Change compare_counts(const stats::Spread& old_count, const stats::Spread& new_count, const Tolerance& tolerance);

/// One count that changed.
struct Delta {
  std::string syscall;
  std::string errno_name;   ///< Empty: the calls themselves.
  stats::Spread old_count;  ///< Over the repetitions.
  stats::Spread new_count;
  Change change = Change::none;
  bool is_volatile = false;
  bool is_new_errno = false;   ///< The syscall did not fail this way in any repetition of OLD.
  bool is_per_run = false;     ///< Made once per run of a benchmark's loop; else per iteration.
  std::string_view chance;     ///< Why it may vary in a test of one thread. Empty: it repeats exactly there.
  bool is_in_doubt = false;    ///< It differs, and may do so by chance: see decide_doubts().
  Rule rule = Rule::exact;     ///< The rule that judged it.
  bool is_accepted = false;    ///< An accept matches it: see Comparison::acceptances.
  bool is_new_wait = false;    ///< A wait, and no run of OLD made one. It is shown, also if it is volatile.
  bool is_red_wait = false;    ///< The same, and such waits are gated (--gate-waits).
  bool tells_per_run = false;  ///< Per-run calls are compared apart.

  std::vector<stats::SiteChange> sites;  ///< The lines that make these calls; see explain_by_sites(). Empty: unknown.

  bool is_gated() const { return !is_volatile; }
  bool is_certain_change() const {
    return is_gated() && !is_in_doubt && (change == Change::grew || change == Change::shrank);
  }
  bool is_exact() const { return old_count.is_exact() && new_count.is_exact(); }
  /// For a new wait: `a wait that OLD never made: 12 poll, src/x.cc:40 Flusher::run`, the line if it is known.
  std::string wait_text() const;
};

/// An accept (judge/accept.h) that matches something of a test.
struct Acceptance {
  std::string where;
  std::string reason;
};

struct Comparison {
  std::string name;
  const stats::WindowSummary* old_window = nullptr;  ///< Null when missing on that side.
  const stats::WindowSummary* new_window = nullptr;
  Verdict verdict = Verdict::same;
  Rule rule = Rule::equal;  ///< The rule that made the verdict.
  std::string reason;       ///< For verdicts that counts do not explain: `failed in NEW`, `fewer syncs: 4 -> 0`.
  /// The amount that NEW left in a further run that listed it, if the first runs did not.
  std::optional<double> descriptors_left_again;
  std::optional<double> mapped_left_again;
  std::vector<Delta> deltas;   ///< Calls first, growth before shrinking, largest first; then errnos alike.
  bool tells_per_run = false;  ///< Per-run calls were compared apart, for every syscall.
  stats::Numbers stats::CallFigures::*counted = nullptr;  ///< The numbers compared as the calls of a syscall.
  bool counts_entries = false;                            ///< Trips into the kernel are compared: a side has no calls.
  /// This side did not measure which calls of some syscall fail, and the other did, so that they are not compared.
  bool lacks_errnos_of_old = false;
  bool lacks_errnos_of_new = false;
  bool has_unclear_processes = false;  ///< See mark_unclear_processes().
  std::optional<TimeVerdict> time;     ///< None where the times are not to be compared; see judge_comparisons().
  std::optional<TimeVerdict> cpu;      ///< The same of processor time.
  bool has_fault = false;  ///< The verdict is not that of the counts: `errored`, `inconclusive` by losses or faults.
  /// In how many ways gated counts that are not repeated exactly may be red: twice for syncs.
  std::size_t varying = 0;
  std::set<std::string_view> undecided;  ///< Syscalls that cannot be judged, because passes differ in length.
  bool is_plain = false;                 ///< A side holds times alone, so that `verdict` is that of the times.
  bool is_let_off = false;               ///< The baseline says that it may fail or be skipped: it fails no gate.
  std::vector<Acceptance> acceptances;   ///< Set by accept_changes(), with Delta::is_accepted.
  bool has_leak = false;                 ///< NEW leaves more open or mapped, or may do so. Set by conclude().
  bool accepts_leaks = false;
  bool needs_acceptance = false;  ///< Without them it would be red or in doubt. Set by conclude().

  bool is_paired() const { return old_window != nullptr && new_window != nullptr; }
  /// Both sides have counts, and they decide the verdict.
  bool is_by_counts() const {
    return is_paired() && !has_fault && counted != nullptr && verdict != Verdict::incomparable;
  }
  void add_reason(std::string_view more) {
    if (!more.empty() && !reason.empty()) reason += "; ";
    reason += more;
  }
  /// True if the wall time, the processor time, or one of the two has this verdict.
  bool has_wall_verdict(Verdict word) const { return time && time->verdict == word; }
  bool has_cpu_verdict(Verdict word) const { return cpu && cpu->verdict == word; }
  bool has_time_verdict(Verdict word) const { return has_wall_verdict(word) || has_cpu_verdict(word); }
  /// Worth showing. Counts that vary and do not part are not, and volatile ones alone are not.
  bool has_changes() const {
    return verdict != Verdict::same || has_time_verdict(Verdict::regressed) || has_time_verdict(Verdict::improved) ||
           std::any_of(deltas.begin(), deltas.end(), [](const Delta& delta) {
             return delta.is_new_wait || (delta.is_gated() && delta.change != Change::near);
           });
  }
};

/// Compares two windows (either may be null, not both). Call decide_doubts() with all rows of a comparison then.
Comparison compare_windows(const stats::WindowSummary* old_window, const stats::WindowSummary* new_window,
                           const CountPolicy& policy);

/// The count of `window` that `delta`, of `row`, is about: 0 where the syscall was not made, nullopt where unknown.
stats::Numbers count_in(const stats::WindowSummary& window, const Delta& delta, const Comparison& row);

/// Sets the verdict of a row with counts on both sides, and its reason, by its deltas. Accepted ones do not decide.
void conclude(Comparison& row);

/// True if one thread made the calls. Files that do not know threads: if the test waits for no other.
bool is_of_one_thread(const stats::WindowSummary& window);

/// Which programs can run again. Where OLD is a file, no coin can choose between the two.
enum class RunsAgain { both_sides, new_side };
inline constexpr std::size_t kMostRunsAgain = 40;

/// Decides the counts that are in doubt if there are enough runs, and says of the others how many runs are enough. A
/// count is decided if all counts of NEW lie above all of OLD, or below, and chance does that rarely enough. If nothing
/// changed, it is chance which n of the n + m runs are those of NEW, so it does that once in C(n + m, n) comparisons.
/// With K counts that vary, once in kFalseRedOnceIn * K is rare enough (Bonferroni): then at most one comparison
/// in kFalseRedOnceIn is red by chance. K counts the varying counts over all runs of both sides together. So it
/// is the same for each choice of the runs of NEW, as the inequality needs. The code is in conclude.cc.
void decide_doubts(std::vector<Comparison>& rows, RunsAgain which = RunsAgain::both_sides);

}  // namespace syscost::bench::judge
