// SPDX-License-Identifier: MIT
#include "commands/check/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "budgets/measures.h"
#include "cli/mistakes.h"
#include "commands/baseline/baseline.h"
#include "commands/compare/causes.h"
#include "commands/compare/compare.h"
#include "commands/compare/count_rules.h"
#include "commands/shared/command_runs.h"
#include "commands/shared/document.h"
#include "commands/shared/gate.h"
#include "commands/shared/run_notes.h"
#include "csv/input.h"
#include "csv/text.h"
#include "judge/open_counts.h"
#include "model/incomplete_run.h"

namespace syscost::bench::commands {
namespace {

using judge::Comparison;
using judge::Verdict;

bool is_percentile(const budgets::Budget& budget) {
  return budget.measure->together == budgets::Together::nothing;
}

/// The budget that `--gate-p99 20%` stands for.
budgets::Budget p99_budget(const std::string& share) {
  budgets::Budget budget;
  budget.where = "--gate-p99";
  budget.measure = budgets::find_measure("p99");
  std::string none;
  budget.choice = *model::SyscallChoice::parse(budget.measure->default_of, none);
  budget.max_growth = budgets::Growth{*budgets::parse_share(share), 0, share};
  return budget;
}

std::string baseline_of(const cli::Options& options) {
  return options.check.baseline.empty() ? cli::kBaselineFile : options.check.baseline;
}

/// Reads baseline and budgets. Returns why a run cannot be compared with them, or "".
std::string read_settings(const cli::Options& options, CheckSettings& settings, csv::Problems& problems) {
  const cli::CheckOptions& asked = options.check;
  settings.baseline_file = baseline_of(options);
  settings.counts = options.counts;
  ProjectRules file = add_rules_of_file(asked.budgets, settings.counts, problems);
  settings.accepts = accepts_of(std::move(file.accepts), options, problems);
  if (!problems.empty()) return "nothing was judged";
  settings.rules_of_tests = std::move(file.rules_of_tests);
  if (file.has_rules) settings.count_rules = std::move(file.line);
  // Budgets alone are enough, unless a baseline was asked for. Rules alone judge nothing.
  const bool has_budgets = !file.budgets.empty();
  settings.budgets = std::move(file.budgets);
  const bool is_there = asked.baseline.empty() && csv::is_own_file_there(settings.baseline_file, problems);
  if (!problems.empty()) return "nothing was judged";
  if (!asked.baseline.empty() || asked.writes() || is_there || !has_budgets) {
    std::optional<model::Baseline> baseline = read_baseline(settings.baseline_file, problems);
    if (!baseline) return "nothing was judged; `bench baseline update RUN...` writes a baseline";
    settings.baseline = std::move(*baseline);
    settings.has_baseline = true;
  }
  if (!asked.gate_counts.empty()) settings.gate_counts = budgets::parse_share(asked.gate_counts);
  if (settings.gate_counts && !settings.has_baseline) return "--gate-counts needs a baseline: --baseline FILE";
  if (!asked.gate_p99.empty()) settings.budgets.push_back(p99_budget(asked.gate_p99));
  const bool has_times = settings.baseline.has_times();
  for (const budgets::Budget& budget : settings.budgets) {
    if (!budget.max_growth) continue;
    if (!settings.has_baseline) return fmt::format("{}: growth needs a baseline: --baseline FILE", budget.where);
    if (!budget.measure->is_count && !has_times) {
      return fmt::format("{}: the baseline has no times for the growth of {}: `bench baseline update --times`",
                         budget.where, budget.measure->name);
    }
  }
  settings.needs_histograms = std::any_of(settings.budgets.begin(), settings.budgets.end(), is_percentile) || has_times;
  return {};
}

/// All that is red whatever a further run says; "" if nothing is.
std::string red_in_any_case(const CheckResult& result, const cli::Gate& gate) {
  if (!result.lost.empty() && !gate.allows_failed) return result.lost.text();
  for (const CheckedRow& row : result.rows) {
    const std::vector<std::string_view> by = gate_failures(row.comparison, gate);
    if (!by.empty() && by.front() != "counts") return fmt::format("{} is {}", row.comparison.name, by.front());
  }
  return {};
}

/// Runs the command again while a count is open, or a budget is exceeded that no further run kept. Returns the error,
/// or "".
std::string run_again(const cli::Options& options, const CheckSettings& settings, CheckResult& result,
                      std::ostream& err) {
  std::vector<Comparison> rows;
  for (const CheckedRow& row : result.rows) rows.push_back(row.comparison);
  judge::OpenCounts open(rows, judge::RunsAgain::new_side);
  const auto fails = [&](const budgets::Finding& one) { return settings.budgets[one.budget].fails; };
  std::vector<budgets::Finding>& exceeded = result.judgement.exceeded;
  const auto count = [&] { return static_cast<std::size_t>(std::count_if(exceeded.begin(), exceeded.end(), fails)); };
  const std::size_t first_exceeded = count();
  if (open.tests() + first_exceeded == 0) return {};
  if (const std::string why = red_in_any_case(result, options.gate); !why.empty()) {
    result.further_runs = fmt::format("not run again: {} in any case", why);
    return {};
  }
  // A budget may be of a whole run, so that all programs run for it, once.
  const auto programs = [&](bool is_first) {
    std::set<std::string> names = open.programs();
    for (const CheckedRow& row : result.rows) {
      if (is_first && count() > 0 && row.run_index) names.emplace(row.comparison.new_window->program);
    }
    return names;
  };
  if (std::string fault = fault_of_programs(options.a, programs(true)); !fault.empty()) return fault;
  CommandRuns runs(options.run_budget_s, judge::OpenCounts::kMostRuns, err);
  if (!runs.fault().empty()) return runs.fault() + '\n';
  if (open.asks_for_leaks()) runs.ask_for_leaks();
  const auto take = [&](const std::string& csv) -> std::string {
    csv::Problems problems;
    CheckResult again;
    std::string fault = judge_run(options, settings, csv, again, problems);
    problems.print(err);
    if (!fault.empty() || !problems.empty()) {
      return fmt::format("a further run could not be judged{}{}\n", fault.empty() ? "" : ": ", fault);
    }
    std::vector<Comparison> its_rows;
    for (CheckedRow& row : again.rows) its_rows.push_back(std::move(row.comparison));
    std::erase_if(exceeded, [&](const budgets::Finding& one) {
      return fails(one) && std::none_of(again.judgement.exceeded.begin(), again.judgement.exceeded.end(),
                                        [&](const budgets::Finding& other) { return other.is_same(one); });
    });
    open.take(again.windows, its_rows, true);
    return {};
  };
  while ((open.tests() > 0 || (runs.rounds() == 0 && count() > 0)) && runs.may_go_on()) {
    std::string fault = runs.run_round(
        programs(runs.rounds() == 0), open.tests(), [&]() -> const std::vector<std::string>& { return options.a; },
        take);
    if (!fault.empty()) return fault;
  }
  for (CheckedRow& row : result.rows) {
    open.apply_to(row.comparison);
    if (settings.gate_counts) allow_growth(settings.counts, *settings.gate_counts, row.comparison);
  }
  result.further_runs = runs.text() + open.text();
  if (first_exceeded > 0) {
    result.further_runs +=
        fmt::format("; of {} exceeded budget{} {} repeated", first_exceeded, first_exceeded == 1 ? "" : "s", count());
  }
  return {};
}

/// Runs the command for the run to judge, which becomes that of `options`. Returns the error, or "".
std::string measure(cli::Options& options, CommandRuns& runs, std::string& command) {
  command = cli::typed(options.a);
  if (command.find("{program}") != std::string::npos) {
    return "{program} is for further runs: give a RUN, too, so that check knows the programs";
  }
  if (!runs.fault().empty()) return runs.fault();
  std::string fault = runs.run_round(
      {""}, 0, [&]() -> const std::vector<std::string>& { return options.a; },
      [&](const std::string& csv) {
        options.runs = {csv};
        return std::string();
      });
  return fault.empty() && options.runs.empty() ? "interrupted: nothing was measured" : fault;
}

/// Says of a run that ended with a status which tests failed in it. If none did, something failed that no row shows.
/// Where only some tests were read, it may be one of the others.
void note_status(const CommandRuns& run, bool has_all_tests, CheckResult& result, std::ostream& err) {
  const std::string& status = run.last_status();
  if (status.empty()) return;
  const auto failed = std::ranges::count_if(result.windows, &stats::WindowSummary::is_failed_test);
  std::string why = result.lost.text();
  if (failed > 0) why += fmt::format("{}{} test{} failed", why.empty() ? "" : ", ", failed, failed == 1 ? "" : "s");
  std::string line = fmt::format("the command ended with {}: {}", status, why);
  if (why.empty() && !has_all_tests) {
    line = fmt::format("the command ended with {}, and none of the chosen tests failed", status);
  } else if (why.empty()) {
    line =
        fmt::format("the command ended with {}, and no failed test explains it: something else in it failed", status);
    result.lost.command = status;
    result.lost.names.emplace_back("the command");
    result.lost.sentences.push_back(line);
    if (!run.last_output().empty()) {
      err << "bench: the command printed at its end:\n" << csv::printable_lines(run.last_output());
    }
  }
  result.warnings.push_back(std::move(line));
}

void write(const cli::Options& options, const CheckSettings& settings, const CheckResult& result,
           const CompareResult& compared, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  if (options.report != cli::Report::none) {
    if (!settings.count_rules.empty()) err << "bench: " << settings.count_rules << '\n';
    const std::vector<Cause> causes = causes_of(failing_rows(compared), compared.gate);
    out << report_by_cause(options.report, check_ci(settings, result, compared), causes);
    return;
  }
  const auto text = [&] { return check_text(settings, result, compared, options, paint); };
  out << rendered(
      {.json = [&] { return check_json(settings, result, compared); },
       .csv = text,  // refused before
       .markdown =
           [&] { return check_markdown(settings, result, compared, options.all, most_bytes(options, kCommentBytes)); },
       .text = text},
      options);
}

/// `limits: 2 exceeded, 1 exceeded with a warning, 9 kept`.
void tell_limits(const CheckSettings& settings, const budgets::Judgement& judged, CompareResult& out) {
  if (settings.budgets.empty()) return;
  const auto fails = [&](std::size_t budget) { return settings.budgets[budget].fails; };
  const auto failing = [&](const std::vector<std::pair<std::size_t, std::string>>& list) {
    return std::count_if(list.begin(), list.end(), [&](const auto& one) { return fails(one.first); });
  };
  const auto exceeded = std::count_if(judged.exceeded.begin(), judged.exceeded.end(),
                                      [&](const budgets::Finding& one) { return fails(one.budget); });
  const auto warned = static_cast<std::ptrdiff_t>(judged.exceeded.size()) - exceeded;
  const std::ptrdiff_t unmatched = failing(judged.unmatched);
  const std::ptrdiff_t unjudged = failing(judged.unjudged);
  out.budgets = fmt::format("limits: {} exceeded", exceeded);
  if (warned != 0) out.budgets += fmt::format(", {} exceeded with a warning", warned);
  if (unmatched != 0) out.budgets += fmt::format(", {} of no test", unmatched);
  if (unjudged != 0) out.budgets += fmt::format(", {} without a number", unjudged);
  out.budgets += fmt::format(", {} kept", judged.kept);
  out.exceeds_budgets = exceeded + unmatched != 0;
  out.lacks_budgets = unjudged != 0;
}

}  // namespace

std::map<std::string, std::string> programs_cut_short(const CheckResult& result) {
  std::map<std::string, std::string> sentences;
  for (std::size_t i = 0; i < result.lost.names.size(); ++i) {
    sentences.emplace(result.lost.names[i], result.lost.sentences[i]);
  }
  for (const model::FailedOutside& one : model::failed_outside_of_tests(result.data)) {
    sentences.emplace(one.program, model::text_of(one));
  }
  return sentences;
}

bool is_as_before(Verdict verdict) {
  return verdict == Verdict::same || verdict == Verdict::near;
}

CompareResult comparison_of(const cli::Options& options, const CheckSettings& settings, const CheckResult& result,
                            const csv::Problems& problems) {
  CompareResult out;
  out.command = "check";
  out.is_of_baseline = true;
  out.gate = options.gate;
  for (const CheckedRow& row : result.rows) out.rows.push_back(row.comparison);
  out.warnings = result.warnings;
  out.lost = result.lost;
  out.locations = result.locations;
  out.count_rules = settings.count_rules;
  out.further_runs = result.further_runs;
  if (result.has_baseline) {
    std::string run = run_line(result.data);
    // The file of a run that the command made is removed at the end, so the command stands for it.
    if (!result.command.empty()) run.replace(0, result.data.name.size(), csv::printable(result.command));
    out.sides = fmt::format("OLD  {}: {} run{}\nNEW  {}\n", csv::printable(result.baseline_file), result.baseline.runs,
                            result.baseline.runs == 1 ? "" : "s", run);
  }
  tell_limits(settings, result.judgement, out);
  conclude(options, out, problems);
  keep_chosen_rows(options, out);
  return out;
}

namespace {

/// The tests of a program that was cut short would be taken out of the baseline. "" if there is none.
std::string why_no_update(const cli::CheckOptions& options, const CheckResult& result) {
  if (!result.lost.command.empty()) return "no baseline was written: " + result.lost.sentences.back();
  std::vector<std::string> sentences;
  for (const auto& cut : programs_cut_short(result)) {
    const bool has_lines =
        std::ranges::any_of(result.baseline.windows, [&](const auto& one) { return one.program == cut.first; });
    if (has_lines) sentences.push_back(csv::printable(cut.second));
  }
  if (sentences.empty() || options.allows_failed) return {};
  return fmt::format("no baseline was written: {}; --allow-failed keeps the lines of the tests that did not run",
                     fmt::join(sentences, "; "));
}

}  // namespace

int check(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  cli::Options options = asked;
  csv::Problems problems;
  CheckSettings settings;
  CheckResult result;
  std::optional<BaselineLock> lock;
  std::string fault;
  if (options.check.writes()) fault = lock.emplace(baseline_of(options)).fault();
  if (fault.empty()) fault = read_settings(options, settings, problems);
  std::optional<CommandRuns> first;  // it has the file, as long as it lives
  if (fault.empty() && options.runs.empty()) fault = measure(options, first.emplace(0, 1, err), result.command);
  if (fault.empty()) fault = judge_run(options, settings, options.runs.front(), result, problems);
  for (const std::string& file : options.locations) {
    if (fault.empty()) fault = result.locations.load(file);
  }
  if (fault.empty() && first) note_status(*first, options.tests.empty(), result, err);
  if (fault.empty() && options.check.is_update) fault = why_no_update(options.check, result);
  if (fault.empty() && options.check.writes()) {
    if (problems.empty() && options.check.is_update) return check_update(options.check, result, out, err);
    if (problems.empty()) {
      const bool is_written = check_accept(options, settings, result, out, err);
      return is_written ? comparison_of(options, settings, result, problems).conclusion.exit_code : cli::kExitBadInput;
    }
    fault = "no baseline was written";
  }
  if (!fault.empty()) {
    problems.print(err);
    err << "bench: " << csv::printable_lines(fault) << (fault.ends_with('\n') ? "" : "\n");
    return cli::kExitBadInput;
  }
  if (!options.a.empty() && problems.empty()) {
    fault = run_again(options, settings, result, err);
    if (!fault.empty()) {
      err << "bench: " << csv::printable_lines(fault);
      return cli::kExitBadInput;
    }
  }
  const CompareResult compared = comparison_of(options, settings, result, problems);
  write(options, settings, result, compared, paint, out, err);
  fault = write_outputs(options, [&](const cli::Options& its, std::ostream& text, std::ostream& notes) {
    write(its, settings, result, compared, render::Paint(false), text, notes);
  });
  problems.print(err);
  if (!fault.empty()) {
    err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  return compared.conclusion.exit_code;
}

}  // namespace syscost::bench::commands
