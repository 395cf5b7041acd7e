// SPDX-License-Identifier: MIT
#include "commands/compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <future>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "commands/compare/causes.h"
#include "commands/compare/count_rules.h"
#include "commands/shared/chosen_tests.h"
#include "commands/shared/document.h"
#include "commands/shared/gate.h"
#include "commands/shared/run_notes.h"
#include "commands/shared/window_notes.h"
#include "csv/problems.h"
#include "csv/text.h"
#include "judge/accept.h"
#include "judge/comparability.h"
#include "judge/several_processes.h"
#include "judge/site_changes.h"
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
using stats::WindowSummary;

/// True when both sides are the same runs of the same files, so that nothing can differ.
bool is_the_same(const model::Dataset& old_data, const model::Dataset& new_data) {
  const auto runs_of = [](const model::Dataset& data) {
    std::set<std::uint32_t> contexts;
    for (const model::Sample& sample : data.samples) contexts.insert(sample.context);
    std::set<std::pair<std::string, std::string>> runs;
    for (const std::uint32_t index : contexts) {
      const model::Context& context = data.contexts[index];
      const std::string& file = data.files[context.file];
      std::error_code unknown;
      const std::filesystem::path path = std::filesystem::canonical(file, unknown);
      runs.emplace(unknown ? file : path.string(), data.text(context.run_id));
    }
    return runs;
  };
  return runs_of(old_data) == runs_of(new_data);
}

/// True for two names of something that can be read once only.
bool is_one_pipe(const std::string& one, const std::string& other) {
  struct stat a {};
  struct stat b {};
  if (::stat(one.c_str(), &a) != 0 || ::stat(other.c_str(), &b) != 0) return false;
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && !S_ISREG(a.st_mode) && !S_ISDIR(a.st_mode);
}

/// The rows of a tool go with their window, as a loop goes with its test.
std::optional<std::size_t> own_window(const model::Dataset& data, const std::vector<model::Group>& groups,
                                      const model::Group& tool) {
  if (data.text(tool.origin) == schema::kOriginSyscost || tool.is_loop(data)) return std::nullopt;
  const auto same = std::find_if(groups.begin(), groups.end(), [&](const model::Group& group) {
    return group.origin != tool.origin && model::is_same_window(group, tool);
  });
  return same == groups.end() ? std::nullopt : std::optional<std::size_t>(same - groups.begin());
}

/// Groups of one side as pairing sees them, with their summaries, and their families. `attempts` becomes a line about
/// those that --allow retried leaves out.
std::vector<judge::PairCandidate> summarize_side(const cli::Gate& gate, std::string_view side, model::Dataset& data,
                                                 std::vector<WindowSummary>& windows, std::vector<model::Group>& groups,
                                                 std::vector<scale::Family>& families, std::string& attempts) {
  // A tool's counts of a window equal ours, or the run printed the difference. Its times include the tool.
  groups = model::group_samples(data, model::Tools::left_out);
  if (gate.allows_retried) attempts = left_out_attempts(stats::leave_out_failed_attempts(data, groups), side);
  windows = stats::summarize_all(data, groups, true);
  std::vector<judge::PairCandidate> candidates;
  candidates.reserve(groups.size());
  for (const model::Group& group : groups) {
    const std::optional<std::size_t> window = own_window(data, groups, group);
    const std::string part = window ? data.text(group.origin) : group.is_loop(data) ? data.text(group.window) : "";
    candidates.push_back({model::base_name(data, group), data.text(group.program), group.is_test(data) && !window, part,
                          window ? window : group.owner});
  }
  families = scale::families_of(data, groups, {.by_label = false, .has_times = false});
  if (!data.has_sites) groups = {};  // as large as the names of all tests
  return candidates;
}

/// Says which lines changed, of the rows that `pairs` became.
void explain(const std::vector<judge::Pair>& pairs, const std::vector<model::Group>& old_groups,
             const std::vector<model::Group>& new_groups, CompareResult& result) {
  if (!result.old_data.has_sites && !result.new_data.has_sites) return;
  const auto side = [](const model::Dataset& data, const std::vector<model::Group>& groups,
                       const std::optional<std::size_t>& index) {
    return judge::SitedWindow{&data, index && !groups.empty() ? &groups[*index] : nullptr};
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    judge::explain_by_sites(side(result.old_data, old_groups, pairs[i].old_index),
                            side(result.new_data, new_groups, pairs[i].new_index), result.rows[i]);
  }
}

void write(const cli::Options& options, const CompareResult& result, const render::Paint& paint, std::ostream& out,
           std::ostream& err) {
  const auto note = [&] {
    if (!result.count_rules.empty()) err << "bench: " << result.count_rules << '\n';
    if (!result.further_runs.empty()) err << "bench: " << result.further_runs << '\n';
  };
  const auto warn = [&] {
    note();
    for (const std::string& warning : result.warnings) err << "bench: warning: " << warning << '\n';
  };
  if (options.report != cli::Report::none) {
    options.report == cli::Report::junit ? warn() : note();
    out << report_by_cause(options.report, compare_ci(result), causes_of(failing_rows(result), result.gate));
    return;
  }
  if (options.format == cli::Format::csv) warn();
  out << rendered(
      {.json = [&] { return compare_json(result); },
       .csv = [&] { return compare_csv(result); },
       .markdown = [&] { return compare_markdown(result, options.all, most_bytes(options, kCommentBytes)); },
       .text = [&] { return compare_text(result, options, paint); }},
      options);
}

bool has_pairs(const CompareResult& result) {
  return std::any_of(result.rows.begin(), result.rows.end(), [](const Comparison& row) { return row.is_paired(); });
}

/// Those that are not empty, with `; ` between.
std::string in_one_sentence(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += fmt::format("{}{}", text.empty() || part.empty() ? "" : "; ", part);
  return text;
}

/// The verdict on what was read, with the exit code and the reason for it.
Conclusion verdict_of(const cli::Options& options, const CompareResult& result) {
  const auto fails = [&](const Comparison& row) { return !gate_failures(row, options.gate).empty(); };
  const std::string gate = gate_line(result.rows, options.gate);
  std::string reason = gate.substr(gate.find(": ") + 2);
  if (reason == "none") reason = "nothing is gated (--gate none)";
  if (!has_pairs(result)) reason.clear();  // there are budgets alone
  const std::string lost = lost_programs(result);
  const std::vector<const Comparison*> rows = pointers_to(result.rows);
  const bool counts = options.gate.counts;
  std::string left_out = counts ? not_compared(rows) : "";
  const bool has_timed = options.gate.times() && !options.is_counts_only;
  if (const std::string times = has_timed ? times_not_compared(rows, options.gate) : ""; !times.empty()) {
    left_out += (left_out.empty() ? "" : "; ") + times;
  }
  const bool has_failing = std::any_of(result.rows.begin(), result.rows.end(), fails);
  if (has_failing || !lost.empty() || result.exceeds_budgets) {
    return {cli::kExitRegression,
            "red, exit code 1: " + in_one_sentence({has_failing ? reason : "", lost, left_out, result.budgets})};
  }
  if (has_pairs(result) && !has_any_test_pair(rows)) {
    return {cli::kExitBadInput, "none, exit code 2: no test is in both runs"};
  }
  const std::string unjudged =
      counts ? in_one_sentence({left_out, without_verdict(rows), in_doubt(rows), accepted(rows)}) : left_out;
  const auto no_answer = [](const std::string& why) {
    return Conclusion{cli::kExitNoVerdict, "no answer, exit code 3: " + why};
  };
  if (counts && judged_nothing(rows)) {
    return no_answer(in_one_sentence({unjudged.empty()   ? "no test has a verdict"
                                      : left_out.empty() ? unjudged + ", and no other was judged"
                                                         : unjudged,
                                      result.budgets}));
  }
  if (has_timed && judged_no_time(rows, options.gate)) {
    const std::string why = in_one_sentence({too_few_samples(rows, options.gate), unjudged});
    return no_answer(in_one_sentence({why.empty() ? "no time has a verdict" : why, result.budgets}));
  }
  const auto unanswered = std::count_if(result.rows.begin(), result.rows.end(), [&](const Comparison& row) {
    return lacks_answer(row, options.gate) || (counts && row.has_unclear_processes);
  });
  if (options.is_strict && unanswered != 0) {
    return no_answer(
        in_one_sentence({fmt::format("{} test{} without a verdict (--strict)", unanswered, unanswered == 1 ? "" : "s"),
                         left_out, result.budgets}));
  }
  if (result.lacks_budgets) return no_answer(in_one_sentence({result.budgets, unjudged}));
  return {cli::kExitOk, "ok, exit code 0: " + in_one_sentence({reason, unjudged, result.budgets})};
}

}  // namespace

std::string left_out_attempts(const std::vector<std::string>& tests, std::string_view side) {
  constexpr std::size_t kMostNamed = 5;
  if (tests.empty()) return {};
  const auto end = tests.begin() + static_cast<std::ptrdiff_t>(std::min(tests.size(), kMostNamed));
  return fmt::format("{}: the failed attempts of {} test{} are left out, because a later process passed: {}{}", side,
                     tests.size(), tests.size() == 1 ? "" : "s", fmt::join(tests.begin(), end, ", "),
                     end == tests.end() ? "" : ", ...");
}

model::LoadOptions load_options(const cli::Options& options, std::size_t side) {
  model::LoadOptions load;
  load.folders = options.folders;
  load.all_runs = options.all_runs;
  load.tests = model::TestChoice(options.tests);
  load.keep_sites = true;
  load.is_printable = options.is_printable();
  if (!options.run_ids.empty()) load.run_id = options.run_ids[std::min(side, options.run_ids.size() - 1)];
  return load;
}

void load_both(const cli::Options& options, CompareResult& result, csv::Problems& problems) {
  csv::Problems new_problems;
  auto other = std::async(std::launch::async | std::launch::deferred,
                          [&] { return model::load(options.runs[1], load_options(options, 1), new_problems); });
  result.old_data = model::load(options.runs[0], load_options(options, 0), problems);
  result.new_data = other.get();
  problems.append_unnoted(new_problems);
}

std::vector<std::string> judge(const cli::Options& options, CompareResult& result) {
  for (const std::string& file : options.locations) {
    if (const std::string fault = result.locations.load(file); !fault.empty()) return {fault};
  }
  model::tell_programs_apart({&result.old_data, &result.new_data}, result.known_programs);
  const bool old_has_details = model::has_details(result.old_data);
  const bool only_one_has_details = old_has_details != model::has_details(result.new_data);
  std::set<std::string> uneven;
  if (only_one_has_details) {
    model::fold_details(old_has_details ? result.old_data : result.new_data);
  } else if (old_has_details) {
    uneven = model::fold_uneven_details(result.old_data, result.new_data);
  }
  std::vector<model::Group> old_groups;
  std::vector<model::Group> new_groups;
  std::vector<scale::Family> old_families;
  std::vector<scale::Family> new_families;
  std::string old_attempts;
  std::string new_attempts;
  const auto old_side =
      summarize_side(options.gate, "OLD", result.old_data, result.old_windows, old_groups, old_families, old_attempts);
  const auto new_side =
      summarize_side(options.gate, "NEW", result.new_data, result.new_windows, new_groups, new_families, new_attempts);
  const InjectedSide old_injected{"OLD", inject_rules(result.old_data)};
  const InjectedSide new_injected{"NEW", inject_rules(result.new_data)};
  for (WindowSummary& window : result.old_windows) window.altered_by = old_injected.rules;
  for (WindowSummary& window : result.new_windows) window.altered_by = new_injected.rules;
  const model::ProgramTests reordered = model::reordered_tests({&result.old_data, &result.new_data});
  stats::note_reordered(reordered, result.old_windows);
  stats::note_reordered(reordered, result.new_windows);
  stats::note_unfinished(result.old_data, result.old_windows);
  stats::note_unfinished(result.new_data, result.new_windows);
  result.law_changes = scale::law_changes(old_families, new_families);
  const judge::Pairing pairing = judge::pair_windows(old_side, new_side, options.pairs);
  if (!pairing.faults.empty()) return pairing.faults;
  result.gate = options.gate;
  if (pairing.single) {
    result.paired = judge::pair_name(result.old_windows[*pairing.single->old_index].name,
                                     result.new_windows[*pairing.single->new_index].name) +
                    " (one test in each file)";
  }
  add_warnings(result);
  for (std::string* const line : {&old_attempts, &new_attempts}) {
    if (!line->empty()) result.warnings.push_back(std::move(*line));
  }
  if (only_one_has_details) {
    result.warnings.push_back(
        fmt::format("only {} has details of syscalls (--syscost_detail): their counts are added up",
                    old_has_details ? "OLD" : "NEW"));
  }
  if (!uneven.empty()) {
    result.warnings.push_back(
        fmt::format("only one of OLD and NEW has details of {} (--syscost_detail): their counts are added up",
                    fmt::join(uneven, ", ")));
  }
  result.rows.clear();
  result.empty_windows.clear();
  for (const judge::Pair& pair : pairing.pairs) {
    const WindowSummary* old_window = pair.old_index ? &result.old_windows[*pair.old_index] : nullptr;
    const WindowSummary* new_window = pair.new_index ? &result.new_windows[*pair.new_index] : nullptr;
    if (old_window == nullptr && new_window != nullptr) {
      old_window = stats::without_calls(*new_window, result.old_windows, result.empty_windows);
    } else if (new_window == nullptr && old_window != nullptr) {
      new_window = stats::without_calls(*old_window, result.new_windows, result.empty_windows);
    }
    result.rows.push_back(judge::compare_windows(old_window, new_window, options.counts));
  }
  judge::accept_changes(options.accepts, result.rows);
  judge::decide_doubts(result.rows);
  for (std::string& line : judge::unused_accepts(options.accepts, result.rows, !options.tests.empty())) {
    result.warnings.push_back(std::move(line));
  }
  if (options.tests.empty()) {
    for (std::string& line : judge::unused_rules(options.rules_of_tests, result.rows)) {
      result.warnings.push_back(std::move(line));
    }
  }
  for (std::string& line : judge::mark_unclear_processes(options.counts, "OLD", "NEW", result.rows)) {
    result.warnings.push_back(std::move(line));
  }
  explain(pairing.pairs, old_groups, new_groups, result);
  const auto retried = std::count_if(result.rows.begin(), result.rows.end(), [](const Comparison& row) {
    return row.new_window != nullptr && row.new_window->was_retried;
  });
  if (retried != 0) {
    result.warnings.push_back(
        fmt::format("{} test{} failed in NEW and passed in a later process, as with ctest --repeat until-pass: --allow "
                    "retried judges {} by that one",
                    retried, retried == 1 ? "" : "s", retried == 1 ? "it" : "them"));
  }
  if (std::string line = errors_not_compared(pointers_to(result.rows)); !line.empty()) {
    result.warnings.push_back(std::move(line));
  }
  for (std::string& line : injected_warnings(result.rows, old_injected, new_injected)) {
    result.warnings.push_back(std::move(line));
  }
  result.limits.threshold = options.threshold / 100;
  if (!options.is_counts_only) judge::judge_row_times(result.rows, result.comparable, result.limits);
  return {};
}

std::string lost_programs(const CompareResult& result) {
  return result.gate.is_off() || result.gate.allows_failed ? "" : result.lost.text();
}

void conclude(const cli::Options& options, CompareResult& result, const csv::Problems& problems) {
  if (!has_pairs(result) && !result.is_of_baseline) {
    result.conclusion = {cli::kExitBadInput, "none, exit code 2: no test is in both runs"};
  } else if (!problems.empty()) {
    result.conclusion = {cli::kExitBadInput, "none, exit code 2: not all of the input could be used"};
  } else {
    result.conclusion = verdict_of(options, result);
  }
  result.failing =
      static_cast<std::size_t>(std::count_if(result.rows.begin(), result.rows.end(), [&](const Comparison& row) {
        return !gate_failures(row, result.gate).empty();
      }));
}

void keep_chosen_rows(const cli::Options& options, CompareResult& result) {
  if (options.for_people() || (options.sort.empty() && !options.top)) return;
  std::vector<Comparison> rows;
  for (const Comparison* row : chosen_rows(result, options)) rows.push_back(*row);
  result.rows = std::move(rows);
}

int report(const cli::Options& options, CompareResult& result, const csv::Problems& problems,
           const render::Paint& paint, std::ostream& out, std::ostream& err) {
  const bool is_paired = has_any_test_pair(pointers_to(result.rows));  // of all rows
  conclude(options, result, problems);
  keep_chosen_rows(options, result);
  write(options, result, paint, out, err);
  const std::string fault =
      write_outputs(options, [&](const cli::Options& its, std::ostream& text, std::ostream& notes) {
        write(its, result, render::Paint(false), text, notes);
      });
  problems.print(err);
  if (!fault.empty()) {
    err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  if (!is_paired && result.conclusion.exit_code == cli::kExitBadInput) {
    err << "bench: no test is in both runs, so nothing was compared; name renamed tests with --pair OLD=NEW\n";
  }
  return result.conclusion.exit_code;
}

bool compare_both(cli::Options& options, CompareResult& result, csv::Problems& problems, std::ostream& err) {
  if (is_one_pipe(options.runs[0], options.runs[1])) {
    err << "bench: OLD and NEW are the same pipe or device, which can be read once only\n"
           "Write it to a file, and give that.\n";
    return false;
  }
  result.count_rules = add_rules(options, problems);
  if (!problems.empty()) {
    problems.print(err);
    return false;
  }
  load_both(options, result, problems);
  // A test may be new or gone: it must be in one of them.
  if (result.old_data.samples.empty() && result.new_data.samples.empty()) {
    note_no_test(result.old_data, model::TestChoice(options.tests), problems);
  }
  if (result.old_data.samples.empty() || result.new_data.samples.empty()) {
    if (!result.new_data.samples.empty()) note_crashes(result.old_data, problems);
    if (!result.old_data.samples.empty()) note_crashes(result.new_data, problems);
    problems.print(err);
    if (!options.tests.empty() && !problems.empty()) return false;  // that says why
    err << "bench: nothing to compare: "
        << csv::printable(result.old_data.samples.empty() ? options.runs[0] : options.runs[1])
        << (options.tests.empty() ? " holds no test\n" : " holds no such test\n");
    return false;
  }
  // With --pair one test of a run is compared with another of it.
  if (options.pairs.empty() && is_the_same(result.old_data, result.new_data)) {
    problems.print(err);
    err << "bench: OLD and NEW are the same run of the same file, so that nothing can differ\n"
           "Give two files, or two runs of one file with --run OLD_ID --run NEW_ID.\n";
    return false;
  }
  result.sides = "OLD  " + run_line(result.old_data) + "\nNEW  " + run_line(result.new_data) + '\n';
  if (const std::vector<std::string> faults = judge(options, result); !faults.empty()) {
    problems.print(err);
    for (const std::string& fault : faults) err << "bench: " << csv::printable(fault) << '\n';
    return false;
  }
  return true;
}

int compare(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  cli::Options options = asked;
  csv::Problems problems;
  CompareResult result;
  if (!compare_both(options, result, problems, err)) return cli::kExitBadInput;
  if (!options.new_command.empty() && problems.empty()) {
    if (const std::string fault = run_again(options, result, err); !fault.empty()) {
      err << "bench: " << csv::printable_lines(fault);
      return cli::kExitBadInput;
    }
  }
  return report(options, result, problems, paint, out, err);
}

}  // namespace syscost::bench::commands
