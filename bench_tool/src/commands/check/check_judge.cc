// SPDX-License-Identifier: MIT
//
// The judgement of check: counts by the judge of compare, then budgets.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "commands/baseline/baseline.h"
#include "commands/check/check.h"
#include "commands/shared/chosen_tests.h"
#include "commands/shared/gate.h"
#include "commands/shared/run_notes.h"
#include "commands/shared/window_notes.h"
#include "judge/accept.h"
#include "judge/baseline_windows.h"
#include "judge/count_policy.h"
#include "judge/several_processes.h"
#include "judge/site_changes.h"
#include "model/choice.h"
#include "model/loader.h"
#include "model/programs.h"
#include "model/site.h"
#include "model/test_order.h"
#include "stats/processes.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {
namespace {

using judge::Comparison;
using judge::Verdict;
using stats::WindowSummary;

/// Which window it is, regardless of its file.
using Key = std::tuple<std::string, std::string, std::string>;

Key key_of(const model::BaselineWindow& window) {
  return {window.program, window.name, window.kind};
}

Key key_of(const model::Dataset& data, const model::Group& group) {
  return {data.text(group.program), model::base_name(data, group), data.text(group.kind)};
}

/// Windows that the counts of a baseline can judge.
bool is_counted(const WindowSummary& window) {
  return window.is_ours() && !window.is_plain;
}

void add_warnings(CheckResult& result) {
  const auto of_run = surroundings_of(result.data);
  for (const auto& [name, value] : result.baseline.surroundings) {
    const auto now = std::find_if(of_run.begin(), of_run.end(),
                                  [&, &wanted = name](const auto& one) { return one.first == wanted; });
    if (now == of_run.end() || now->second == value || name == kOrderSurrounding) continue;
    const std::string_view advice = advice_on(name);
    // Programs of a baseline need not all be run.
    if (!advice.empty() && model::has_all(value, now->second)) continue;
    result.warnings.push_back(fmt::format("{} differs ({} in the baseline, {} now): {}", name,
                                          value.empty() ? "none" : value, now->second.empty() ? "none" : now->second,
                                          advice.empty() ? "counts may differ for that reason alone" : advice));
  }
}

/// Names of the baseline's windows, with the program where several have one of that name.
void name_windows(CheckResult& result) {
  std::map<std::string_view, std::size_t> times;
  for (const model::BaselineWindow& window : result.baseline.windows) ++times[window.name];
  for (std::size_t i = 0; i < result.baseline.windows.size(); ++i) {
    const model::BaselineWindow& window = result.baseline.windows[i];
    if (times[window.name] > 1) result.baseline_windows[i].name = fmt::format("{} ({})", window.name, window.program);
  }
}

/// For a test that the baseline has no counts of.
void ungate(Comparison& row, const char* why) {
  row.verdict = Verdict::near;
  row.is_let_off = true;
  row.rule = judge::Rule::baseline;
  row.reason = fmt::format("{} in the baseline, so it is not judged", why);
  row.deltas.clear();
}

/// Each time that it ran.
bool has_passed(const WindowSummary& window) {
  return window.outcomes.size() == 1 && window.outcomes.begin()->first == "passed";
}

/// True for a window of a test that --test chooses.
bool is_chosen(const model::BaselineWindow& window, const model::TestChoice& tests) {
  std::vector<std::string> names = {window.name};
  if (window.kind == "loop") names.push_back(window.name.substr(0, window.name.rfind(", loop ")));
  if (window.kind == "scope") names.push_back(window.name.substr(0, window.name.rfind(", scope ")));
  constexpr std::string_view kBenchmark = "benchmark ";
  if (window.name.starts_with(kBenchmark)) names.push_back(window.name.substr(kBenchmark.size()));
  for (std::size_t i = 0, count = names.size(); i < count; ++i) {
    names.push_back(fmt::format("{} ({})", names[i], window.program));
  }
  return tests.matches(names);
}

/// Tests of the run that the baseline has without counts.
std::string left_unjudged(const CheckResult& result) {
  const auto is_left = [&](const CheckedRow& row) {
    if (!row.baseline_index || !row.run_index) return false;
    const std::string& outcome = result.baseline.windows[*row.baseline_index].outcome;
    return outcome == model::kOutcomeFailed || outcome == model::kOutcomeLost || outcome == model::kOutcomeVaries;
  };
  const auto left = std::count_if(result.rows.begin(), result.rows.end(), is_left);
  if (left == 0) return {};
  return fmt::format(
      "{} test{} failed, lost events or {} skipped at times when the baseline was made, so {} counts are not judged",
      left, left == 1 ? "" : "s", left == 1 ? "was" : "were", left == 1 ? "its" : "their");
}

/// Where the runs of the baseline had several orders, each run may have another one.
void note_orders_that_vary(const model::Baseline& baseline, std::vector<WindowSummary>& windows) {
  for (const auto& [name, value] : baseline.surroundings) {
    if (name != kOrderSurrounding) continue;
    const std::string programs = fmt::format(", {}, ", value);
    for (WindowSummary& window : windows) {
      const bool is_one = programs.find(fmt::format(", {}, ", window.program)) != std::string::npos;
      window.is_reordered = window.is_reordered || is_one;
    }
  }
}

/// The rules that the baseline was measured with.
std::string inject_rules_of(const model::Baseline& baseline) {
  for (const auto& [name, value] : baseline.surroundings) {
    if (name == kInjectSurrounding) return value;
  }
  return {};
}

/// The run may have been asked for other details than the baseline. Folds those of syscalls that the baseline has
/// whole. Returns what cannot be compared, or "".
std::string fold_as_baseline(CheckResult& result) {
  std::set<std::string> detailed;
  std::set<std::string> whole;
  for (const model::BaselineWindow& window : result.baseline.windows) {
    for (const model::BaselineCell& cell : window.cells) {
      const std::size_t blank = cell.syscall.find(' ');
      (blank == std::string::npos ? whole : detailed).insert(cell.syscall.substr(0, blank));
    }
  }
  const model::DetailedSyscalls of_run = model::detailed_syscalls(result.data);
  std::set<std::string> folded;
  for (const std::string& name : of_run.detailed) {
    if (whole.contains(name) && !detailed.contains(name)) folded.insert(name);
  }
  if (!folded.empty()) model::fold_details(result.data, folded);
  for (const std::string& name : of_run.plain) {
    if (detailed.contains(name) && !whole.contains(name)) {
      return fmt::format("the baseline has details of {} and the run has none: measure with the same --syscost_detail",
                         name);
    }
  }
  return {};
}

/// Pairs and judges. Returns why it could not, or "".
std::string judge_counts(const cli::Options& options, const CheckSettings& settings, CheckResult& result) {
  const judge::CountPolicy& policy = settings.counts;
  const bool baseline_has_details = result.baseline.has_details();
  if (baseline_has_details != model::has_details(result.data)) {
    if (baseline_has_details) {
      return "the baseline has details of syscalls and the run has none: measure with the same --syscost_detail";
    }
    model::fold_details(result.data);
  } else if (baseline_has_details) {
    if (std::string fault = fold_as_baseline(result); !fault.empty()) return fault;
  }
  result.groups = model::group_samples(result.data, model::Tools::left_out);
  if (options.gate.allows_retried) {
    std::string line = left_out_attempts(stats::leave_out_failed_attempts(result.data, result.groups), "NEW");
    if (!line.empty()) result.warnings.push_back(std::move(line));
  }
  result.windows = stats::summarize_all(result.data, result.groups, true);
  for (const model::BaselineWindow& window : result.baseline.windows) {
    result.baseline_windows.push_back(judge::from_baseline(result.baseline, window));
  }
  stats::note_threaded_programs(result.baseline_windows);
  const model::ProgramTests reordered = model::reordered_tests({&result.data});
  stats::note_reordered(reordered, result.windows);
  stats::note_unfinished(result.data, result.windows);
  stats::note_reordered(reordered, result.baseline_windows);
  note_orders_that_vary(result.baseline, result.baseline_windows);
  name_windows(result);
  const InjectedSide before{"OLD", inject_rules_of(result.baseline)};
  const InjectedSide after{"NEW", inject_rules(result.data)};
  for (WindowSummary& window : result.baseline_windows) window.altered_by = before.rules;
  for (WindowSummary& window : result.windows) window.altered_by = after.rules;
  std::multimap<Key, std::size_t> of_run;  // a second window of a name is a new one, as in compare
  for (std::size_t i = 0; i < result.groups.size(); ++i) {
    if (is_counted(result.windows[i])) of_run.emplace(key_of(result.data, result.groups[i]), i);
  }
  bool has_pair = false;
  std::vector<Comparison> rows;
  const auto add = [&](const WindowSummary* expected, const WindowSummary* now, std::optional<std::size_t> in_baseline,
                       std::optional<std::size_t> in_run) {
    rows.push_back(judge::compare_windows(expected, now, policy));
    result.rows.push_back({{}, in_baseline, in_run});
  };
  for (std::size_t i = 0; i < result.baseline.windows.size(); ++i) {
    WindowSummary& expected = result.baseline_windows[i];
    const auto found = of_run.lower_bound(key_of(result.baseline.windows[i]));
    if (found == of_run.end() || found->first != key_of(result.baseline.windows[i])) {
      add(&expected, stats::without_calls(expected, result.windows, result.empty_windows), i, std::nullopt);
      continue;
    }
    has_pair = true;
    expected.name = result.windows[found->second].name;
    add(&expected, &result.windows[found->second], i, found->second);
    of_run.erase(found);
  }
  for (const auto& [key, index] : of_run) {
    const WindowSummary& now = result.windows[index];
    add(stats::without_calls(now, result.baseline_windows, result.empty_windows), &now, std::nullopt, index);
  }
  for (std::size_t i = 0; i < result.baseline.windows.size(); ++i) {
    if (!rows[i].is_paired()) continue;
    const std::string& outcome = result.baseline.windows[i].outcome;
    if (outcome == model::kOutcomeVaries) ungate(rows[i], "passed and skipped");
    // A test that failed in the baseline and passes now is new: it has counts for the first time.
    if (outcome == model::kOutcomeFailed && judge::has_failed(*rows[i].new_window)) ungate(rows[i], "failed");
    if (rows[i].verdict == Verdict::errored && has_passed(*rows[i].new_window)) rows[i].verdict = Verdict::added;
    if (outcome != model::kOutcomeLost || !gate_failures(rows[i], options.gate).empty()) continue;
    if (judge::fault_of(*rows[i].new_window).allowed_by == judge::kAllowLost) {
      ungate(rows[i], "not counted completely");
    } else {
      rows[i].reason = "its counts were lost or missing when the baseline was made";
    }
  }
  judge::accept_changes(settings.accepts, rows);
  judge::decide_doubts(rows, judge::RunsAgain::new_side);
  std::vector<std::string> unused = judge::unused_accepts(settings.accepts, rows, !options.tests.empty());
  if (options.tests.empty()) {
    for (std::string& line : judge::unused_rules(settings.rules_of_tests, rows)) unused.push_back(std::move(line));
  }
  std::vector<std::string> unclear = judge::mark_unclear_processes(policy, "OLD", "NEW", rows);
  const std::string without_errors = errors_not_compared(pointers_to(rows));
  std::vector<std::string> injected = injected_warnings(rows, before, after);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::optional<std::size_t> in_run = result.rows[i].run_index;
    // A baseline holds no sites.
    judge::explain_by_sites({}, {&result.data, in_run ? &result.groups[*in_run] : nullptr}, rows[i]);
    result.rows[i].comparison = std::move(rows[i]);
  }
  if (!has_pair && result.has_baseline) return "no test of the run is in the baseline, so nothing was judged";
  add_warnings(result);
  if (!without_errors.empty()) result.warnings.push_back(without_errors);
  if (const std::string line = left_unjudged(result); !line.empty()) result.warnings.push_back(line);
  for (std::string& line : unclear) result.warnings.push_back(std::move(line));
  for (std::string& line : injected) result.warnings.push_back(std::move(line));
  result.warnings.insert(result.warnings.end(), unused.begin(), unused.end());
  return {};
}

void judge_budgets(const CheckSettings& settings, CheckResult& result) {
  std::vector<budgets::BudgetedWindow> windows;
  for (const CheckedRow& row : result.rows) {
    budgets::BudgetedWindow window;
    window.display = row.comparison.name;
    if (row.baseline_index) {
      const model::BaselineWindow& lines = result.baseline.windows[*row.baseline_index];
      window.name = lines.name;
      window.program = lines.program;
      window.kind = lines.kind;
      window.before = budgets::subject_of(lines, result.baseline_windows[*row.baseline_index]);
    }
    if (row.run_index) {
      const model::Group& group = result.groups[*row.run_index];
      const WindowSummary& now = result.windows[*row.run_index];
      window.name = model::base_name(result.data, group);
      window.program = result.data.text(group.program);
      window.kind = now.kind;
      window.now = budgets::subject_of(result.data, group, now, settings.needs_histograms);
    }
    windows.push_back(std::move(window));
  }
  result.judgement = budgets::judge(settings.budgets, windows);
  if (settings.budgets.empty()) return;
  InjectedCalls injected;
  for (const WindowSummary& window : result.windows) injected.add(window);
  if (!injected.text().empty()) result.warnings.push_back(injected.text() + "; budgets judge their counts as they are");
}

/// How far the calls of a test grew, those of a pass or the per-run calls: all syscalls together.
struct Growth {
  double before = 0;
  double calls = 0;
  double errors = 0;  ///< Growth alone is added: fewer failures with one errno do not offset more with another.

  double more() const { return std::max(calls, errors); }
  bool is_within(double share) const { return more() <= share * before; }
};

}  // namespace

void allow_growth(const judge::CountPolicy& policy, double share, Comparison& row) {
  // Other syncs, leaks and waits are no growth of counts.
  const bool grew = row.rule == judge::Rule::growth || row.rule == judge::Rule::failures;
  if (row.verdict != Verdict::regressed || !row.is_paired() || !grew || (row.has_leak && !row.accepts_leaks)) return;
  Growth of_pass;
  Growth per_run;
  const judge::CountPolicy own_policy = judge::rules_of(policy, row.old_window, row.new_window);
  for (const stats::SyscallSummary& one : row.old_window->syscalls) {
    if (own_policy.is_volatile(one.name, one.classes)) continue;
    if (one.count()) of_pass.before += one.count()->median;
    if (one.per_run_calls) per_run.before += one.per_run_calls->median;
  }
  for (const judge::Delta& delta : row.deltas) {
    if (!delta.is_gated()) continue;
    const bool is_sync = judge::family_of(delta.syscall) == judge::Family::syncs;
    if ((delta.is_red_wait || is_sync) && delta.is_certain_change() && !delta.is_accepted) return;
    if (delta.syscall == model::kSyncOpens) continue;  // a part of others
    Growth& growth = delta.is_per_run ? per_run : of_pass;
    const double more = delta.new_count.median - delta.old_count.median;
    if (delta.errno_name.empty()) {
      growth.calls += more;
    } else if (delta.is_new_errno && delta.change == judge::Change::grew) {
      return;
    } else {
      growth.errors += std::max(more, 0.0);
    }
  }
  if (!of_pass.is_within(share) || !per_run.is_within(share)) return;
  double most = 0;
  for (const Growth& growth : {of_pass, per_run}) {
    if (growth.before > 0) most = std::max(most, growth.more() / growth.before);
  }
  row.verdict = Verdict::near;
  row.rule = judge::Rule::gate_counts;
  row.reason = fmt::format("its calls grew by {:.1f} %, which --gate-counts allows", 100 * most);
}

std::string judge_run(const cli::Options& options, const CheckSettings& settings, const std::string& run,
                      CheckResult& result, csv::Problems& problems) {
  result.baseline = settings.baseline;
  result.has_baseline = settings.has_baseline;
  result.baseline_file = settings.baseline_file;
  model::LoadOptions load;
  load.is_printable = true;  // names are those of the baseline
  load.keep_sites = true;
  load.keep_histograms = settings.needs_histograms;
  // The file of a further run is ours, so all its rows count, under any run_id.
  const bool is_first = run == options.runs.front();
  load.all_runs = options.all_runs || !is_first;
  if (is_first) load.folders = options.folders;
  if (!options.run_ids.empty() && is_first) load.run_id = options.run_ids.front();
  load.tests = model::TestChoice(options.tests);
  if (!options.tests.empty()) {
    std::erase_if(result.baseline.windows,
                  [&](const model::BaselineWindow& window) { return !is_chosen(window, load.tests); });
  }
  result.data = model::load(run, load, problems);
  std::vector<std::string> programs;
  for (const model::BaselineWindow& window : result.baseline.windows) programs.push_back(window.program);
  model::tell_programs_apart({&result.data}, programs);
  result.lost = program_faults(result.data, nullptr);
  if (result.data.samples.empty()) {
    if (!options.tests.empty()) {
      note_no_test(result.data, load.tests, problems);
      return "nothing to judge: the run holds no such test";
    }
    note_crashes(result.data, problems);
    return "nothing to judge: the run holds no test";
  }
  for (const std::string& line : crash_lines(result.data)) result.warnings.push_back(line);
  if (std::string fault = judge_counts(options, settings, result); !fault.empty()) return fault;
  if (settings.gate_counts) {
    for (CheckedRow& row : result.rows) allow_growth(settings.counts, *settings.gate_counts, row.comparison);
  }
  judge_budgets(settings, result);
  if (!options.tests.empty()) result.judgement.unmatched.clear();  // they are of other tests
  return {};
}

}  // namespace syscost::bench::commands
