// SPDX-License-Identifier: MIT
#include "commands/log/log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "commands/compare/count_rules.h"
#include "commands/shared/chosen_tests.h"
#include "commands/shared/document.h"
#include "commands/shared/gate.h"
#include "csv/problems.h"
#include "csv/run_files.h"
#include "judge/comparability.h"
#include "judge/direction.h"
#include "judge/site_changes.h"
#include "model/programs.h"
#include "model/site.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {
namespace {

template <class Log>
int print_log(const cli::Options& options, const Log& log, const csv::Problems& problems, const render::Paint& paint,
              std::ostream& out, std::ostream& err) {
  return print({.json = [&] { return log_json(log); },
                .csv = [&] { return log_csv(log); },
                .markdown = [&] { return log_markdown(log); },
                .text = [&] { return log_text(log, options.screen.width, paint); }},
               options, problems, out, err);
}

}  // namespace

int log(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  cli::Options options = asked;
  csv::Problems problems;
  // An accepted change has entered all the same.
  std::string rules = add_rules_of_file(options.config, options.counts, problems, false).line;
  if (!problems.empty()) {
    problems.print(err);
    return cli::kExitBadInput;
  }
  // Runs of all files stand in one history, so all files are one RUN.
  csv::Run all{options.runs.front(), false, {}};
  csv::add_files(all, options.runs, options.folders, problems);
  model::LoadOptions load;
  load.all_runs = load.is_history = true;
  load.is_printable = options.is_printable();
  if (options.test.empty()) {
    load.keep_sites = true;
    CauseLog log;
    log.data = model::load(std::move(all), load, problems);
    log.count_rules = std::move(rules);
    model::tell_programs_apart({&log.data});
    find_causes(options.counts, log);
    return print_log(options, log, problems, paint, out, err);
  }
  const NamedTest named = load_named(std::move(all), load, options.test, problems);
  const std::vector<const model::Group*> found = find_test(named.data, named.groups, options.test);
  if (found.size() != 1) {
    if (!named.groups.empty()) print_candidates(named, found, options.test, "log", err);
    problems.print(err);
    return cli::kExitBadInput;
  }
  const TestLog log{model::display_name(named.data, *found.front()), &named.data, std::move(rules),
                    judge::history_of(named.data, *found.front(), options.counts, options.threshold / 100)};
  return print_log(options, log, problems, paint, out, err);
}

// The causes of a history: each run against the one before, by the rules of compare.
//
// A test is compared with the last run in which it passed and was counted, so a run in between that lacks it hides
// nothing. A cause that makes a test red has entered. It has left where calls become fewer again. Other syncs are red
// in both directions; there it has left where their number comes back.

namespace {

using judge::Comparison;
using judge::Delta;
using model::Group;
using stats::WindowSummary;

constexpr cli::Gate kCounts{.counts = true};

/// The windows of one run.
struct RunWindows {
  std::vector<std::size_t> tests;  ///< Each one's index in the history.
  std::vector<Group> groups;
  std::vector<WindowSummary> windows;
  std::deque<WindowSummary> empty_windows;
};

/// The facts that are known of a test from the runs before.
struct Known {
  std::shared_ptr<const RunWindows> run;  ///< Keeps what follows.
  const WindowSummary* window = nullptr;  ///< Its window in the last run that counted it; null: none did.
  const Group* group = nullptr;           ///< Null: a set-up without calls.
  std::string fault;                      ///< `missing`, `failed`, ...: since then it is not counted.
  std::map<std::string, double> syncs;    ///< How many there were before of each sync that changed.
};

bool is_sync(const Delta& delta) {
  return judge::family_of(delta.syscall) == judge::Family::syncs;
}

/// True if it can be compared with later runs. Benchmarks of Google Benchmark's own JSON have no counts.
bool can_be_compared_later(const WindowSummary& window) {
  return (window.is_plain || window.is_counted()) && window.outcomes.count("skipped") == 0 &&
         !judge::find_fault(window, window);
}

/// Runs may have been asked for other details. A count that one of them has whole is compared as a whole.
void fold_uneven_details(const std::vector<judge::RunOfHistory>& runs, model::Dataset& data) {
  if (!model::has_details(data)) return;
  model::DetailedSyscalls all;
  for (const judge::RunOfHistory& run : runs) {
    const model::DetailedSyscalls of_run = model::detailed_syscalls(data, run.run_id);
    all.detailed.insert(of_run.detailed.begin(), of_run.detailed.end());
    all.plain.insert(of_run.plain.begin(), of_run.plain.end());
  }
  std::set<std::string> folded;
  std::set_intersection(all.detailed.begin(), all.detailed.end(), all.plain.begin(), all.plain.end(),
                        std::inserter(folded, folded.end()));
  if (!folded.empty()) model::fold_details(data, folded);
}

/// The rules of --syscost_inject in a run; "" if it was not given.
std::string inject_rules_of(const model::Dataset& data, model::NameId run_id) {
  std::set<std::string_view> rules;
  for (const model::RunFacts& facts : data.runs) {
    if (data.contexts[facts.context].run_id != run_id) continue;
    rules.insert(model::fact_in(data.text(facts.surroundings), "inject"));
  }
  rules.erase("");
  return fmt::format("{}", fmt::join(rules, "; "));
}

class History {
 public:
  History(const judge::CountPolicy& policy, CauseLog& log)
      : policy_(policy), log_(log), tests_(model::group_samples(log.data, model::Tools::left_out)) {
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      for (const std::uint32_t sample : tests_[i].samples) {
        samples_[log.data.context(log.data.samples[sample]).run_id][i].push_back(sample);
      }
    }
    known_.resize(tests_.size());
  }

  void add(const judge::RunOfHistory& run) {
    const std::shared_ptr<RunWindows> now = windows_of(run.run_id);
    LoggedRun& logged = log_.runs.emplace_back();
    logged.run_id = run.run_id;
    logged.context = run.context;
    rows_.clear();
    std::vector<bool> is_there(tests_.size(), false);
    for (std::size_t i = 0; i < now->tests.size(); ++i) {
      is_there[now->tests[i]] = true;
      compare(now->tests[i], {now, &now->windows[i], &now->groups[i], {}, {}});
    }
    for (std::size_t test = 0; test < tests_.size(); ++test) {
      if (!is_there[test] && known_[test].window != nullptr) compare_absent(test, run, now);
    }
    judge(logged);
    last_ = now;
  }

 private:
  struct Row {
    std::size_t test = 0;
    Known now;
  };

  std::shared_ptr<RunWindows> windows_of(model::NameId run_id) {
    auto windows = std::make_shared<RunWindows>();
    for (auto& [test, samples] : samples_[run_id]) {
      windows->tests.push_back(test);
      windows->groups.push_back(judge::with_samples(tests_[test], std::move(samples)));
    }
    windows->windows = stats::summarize_all(log_.data, windows->groups, true);
    const std::string rules = inject_rules_of(log_.data, run_id);
    for (WindowSummary& window : windows->windows) window.altered_by = rules;
    return windows;
  }

  void compare(std::size_t test, Known now) {
    Known& before = known_[test];
    if (before.window == nullptr && last_) {
      before.window = stats::without_calls(*now.window, last_->windows, last_->empty_windows);
      before.run = last_;
    }
    if (before.window == nullptr) {
      if (can_be_compared_later(*now.window)) before = std::move(now);
      return;
    }
    if (before.window->filters != now.window->filters) use_filter(test, *now.window);
    comparisons_.push_back(judge::compare_windows(before.window, now.window, policy_));
    rows_.push_back({test, std::move(now)});
  }

  /// A run with another filter hides no change between those before and after it: each filter has its own last run.
  void use_filter(std::size_t test, const WindowSummary& now) {
    Known& before = known_[test];
    std::map<std::string, Known>& others = of_filters_[test];
    const auto found = others.find(stats::filter_text(now));
    if (found == others.end()) return;
    Known last = found->second;
    last.fault = before.fault;
    others[stats::filter_text(*before.window)] = std::exchange(before, std::move(last));
  }

  /// A set-up without calls has no row. A test is missing if its program ran all its tests.
  void compare_absent(std::size_t test, const judge::RunOfHistory& run, const std::shared_ptr<RunWindows>& now) {
    Known& before = known_[test];
    if (const WindowSummary* none = stats::without_calls(*before.window, now->windows, now->empty_windows)) {
      compare(test, {now, none, nullptr, {}, {}});
      return;
    }
    const auto program = run.ran_all_tests.find(tests_[test].program);
    if (program == run.ran_all_tests.end() || !program->second || !before.fault.empty()) return;
    comparisons_.push_back(judge::compare_windows(before.window, nullptr, policy_));
    rows_.push_back({test, {}});
  }

  void judge(LoggedRun& logged) {
    judge::decide_doubts(comparisons_);
    logged.not_compared = not_compared(pointers_to(comparisons_));
    if (const std::string more = without_verdict(pointers_to(comparisons_)); !more.empty()) {
      logged.not_compared += (logged.not_compared.empty() ? "" : "; ") + more;
    }
    std::vector<const Comparison*> entered;
    std::vector<const Comparison*> left;
    std::map<std::string, std::vector<const Comparison*>> repaired;
    undone_.clear();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Known& before = known_[rows_[i].test];
      Known& now = rows_[i].now;
      Comparison& row = comparisons_[i];
      const std::vector<std::string_view> by = gate_failures(row, kCounts);
      if (!by.empty() && by.front() != "counts") {
        if (before.fault != by.front()) entered.push_back(&keep(row));
        before.fault = by.front();
        continue;
      }
      if (now.window == nullptr || !can_be_compared_later(*now.window)) continue;
      // A run with faults says nothing of the runs around it.
      if (row.has_fault && !stats::has_altered(*before.window)) continue;
      if (row.verdict == judge::Verdict::in_doubt) logged.in_doubt.push_back(row.name);
      if (!before.fault.empty()) repaired[before.fault].push_back(&keep(row));
      if (row.verdict == judge::Verdict::regressed || row.verdict == judge::Verdict::improved) {
        judge::explain_by_sites({&log_.data, before.group}, {&log_.data, now.group}, row);
        const Comparison& kept = keep(row);
        const bool has_entered = !by.empty() && note_syncs(kept, before.syncs);
        if (has_entered) entered.push_back(&kept);
        if (!has_entered || has_line(kept, leaves_)) left.push_back(&kept);
      }
      if (before.window->filters != now.window->filters) {
        of_filters_[rows_[i].test][stats::filter_text(*before.window)] = before;
      }
      now.syncs = std::move(before.syncs);
      std::swap(before, now);  // the rows still need the windows of before
    }
    logged.entered = causes_of(entered, kCounts, [&](const Delta& one) { return is_costly(one) && !leaves_(one); });
    logged.left = causes_of(left, kCounts, leaves_);
    for (const auto& [fault, tests] : repaired) logged.left.push_back({fault, fault, std::nullopt, tests});
    comparisons_.clear();
  }

  /// A row of this run that outlives its windows.
  const Comparison& keep(const Comparison& row) { return log_.tests.emplace_back(row); }

  /// Marks the syncs of a red row that come back to their number of earlier. Returns false if they alone make it red.
  bool note_syncs(const Comparison& row, std::map<std::string, double>& syncs) {
    std::size_t costly = 0;
    const std::size_t undone = undone_.size();
    for (const Delta& delta : row.deltas) {
      if (!delta.is_certain_change() || !is_costly(delta)) continue;
      ++costly;
      if (!is_sync(delta)) continue;
      const double after = delta.new_count.median;
      const auto before = syncs.try_emplace(delta.syscall, delta.old_count.median).first;
      if (std::abs(after - before->second) < std::abs(delta.old_count.median - before->second)) undone_.insert(&delta);
      if (after == before->second) syncs.erase(before);
    }
    return costly == 0 || undone_.size() - undone < costly;
  }

  const judge::CountPolicy& policy_;
  CauseLog& log_;
  std::vector<Group> tests_;
  std::map<model::NameId, std::map<std::size_t, std::vector<std::uint32_t>>> samples_;
  std::vector<Known> known_;
  std::map<std::size_t, std::map<std::string, Known>> of_filters_;  ///< By test: of each filter but that of known_.
  std::shared_ptr<RunWindows> last_;
  std::vector<Row> rows_;                ///< Those of the run that is judged.
  std::vector<Comparison> comparisons_;  ///< One for each.
  std::set<const Delta*> undone_;        ///< Syncs that come back.
  const ChangeChoice leaves_ = [this](const Delta& one) {
    return is_sync(one) ? undone_.contains(&one) : one.change == judge::Change::shrank;
  };
};

}  // namespace

void find_causes(const judge::CountPolicy& policy, CauseLog& log) {
  const std::vector<judge::RunOfHistory> runs = judge::runs_in_order(log.data);
  fold_uneven_details(runs, log.data);
  History history(policy, log);
  for (const judge::RunOfHistory& run : runs) history.add(run);
  for (Comparison& row : log.tests) row.old_window = row.new_window = nullptr;
}

}  // namespace syscost::bench::commands
