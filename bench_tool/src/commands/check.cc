// SPDX-License-Identifier: MIT
#include "commands/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>
#include <utility>

#include "commands/baseline.h"
#include "csv/printable.h"
#include "model/fold_details.h"
#include "model/loader.h"
#include "stats/baseline_windows.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;
using stats::Verdict;
using stats::WindowSummary;

/// Which window it is, whatever file it comes from.
using Key = std::tuple<std::string, std::string, std::string>;

Key key_of(const model::BaselineWindow& window) {
  return {window.program, window.name, window.kind};
}

Key key_of(const model::Dataset& data, const model::Group& group) {
  return {data.text(group.program), model::base_name(data, group), data.text(group.kind)};
}

/// Windows that the counts of a baseline say something about.
bool is_counted(const WindowSummary& window) {
  return window.is_ours() && !window.is_plain;
}

void add_warnings(CheckResult& result) {
  const auto of_run = surroundings_of(result.data);
  for (const auto& [name, value] : result.baseline.surroundings) {
    const auto now = std::find_if(of_run.begin(), of_run.end(), [&](const auto& one) { return one.first == name; });
    if (now == of_run.end() || now->second == value) continue;
    result.warnings.push_back(
        fmt::format("{} differs ({} in the baseline, {} now): counts may differ for that reason alone", name,
                    value.empty() ? "none" : value, now->second.empty() ? "none" : now->second));
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

/// Pairs and judges; returns what keeps it from doing so, or "".
std::string judge(const cli::Options& options, CheckResult& result) {
  const bool baseline_has_details = result.baseline.has_details();
  if (baseline_has_details != model::has_details(result.data)) {
    if (baseline_has_details) {
      return "the baseline tells calls of one syscall apart and the run does not: measure with the same "
             "--syscost_detail";
    }
    model::fold_details(result.data);
  }
  result.groups = model::group_samples(result.data, model::Tools::left_out);
  result.windows = stats::summarize_all(result.data, result.groups, true);
  for (const model::BaselineWindow& window : result.baseline.windows) {
    result.baseline_windows.push_back(stats::from_baseline(result.baseline, window));
  }
  name_windows(result);
  std::map<Key, std::size_t> of_run;
  for (std::size_t i = 0; i < result.groups.size(); ++i) {
    if (is_counted(result.windows[i])) of_run.emplace(key_of(result.data, result.groups[i]), i);
  }
  bool has_pair = false;
  std::vector<Comparison> rows;  // apart: moved calls are found over all of them
  const auto add = [&](const WindowSummary* expected, const WindowSummary* now, std::optional<std::size_t> in_baseline,
                       std::optional<std::size_t> in_run) {
    rows.push_back(stats::compare_windows(expected, now, options.counts));
    result.rows.push_back({{}, in_baseline, in_run});
  };
  for (std::size_t i = 0; i < result.baseline.windows.size(); ++i) {
    WindowSummary& expected = result.baseline_windows[i];
    const auto found = of_run.find(key_of(result.baseline.windows[i]));
    if (found == of_run.end()) {
      add(&expected, nullptr, i, std::nullopt);
      continue;
    }
    has_pair = true;
    expected.name = result.windows[found->second].name;
    add(&expected, &result.windows[found->second], i, found->second);
    of_run.erase(found);
  }
  for (const auto& [key, index] : of_run) add(nullptr, &result.windows[index], std::nullopt, index);
  stats::find_moved_calls(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) result.rows[i].comparison = std::move(rows[i]);
  if (!has_pair) return "no test of the run is in the baseline, so nothing was judged";
  add_warnings(result);
  return {};
}

bool is_unjudged(const Comparison& row) {
  return stats::has_no_answer(row.verdict) && row.verdict != Verdict::errored && row.verdict != Verdict::missing &&
         row.verdict != Verdict::added;
}

/// The baseline with what differs put in. Returns what keeps a test from being written, one for each.
std::vector<std::string> update(const CheckResult& result, model::Baseline& baseline) {
  std::vector<std::string> faults;
  std::vector<model::BaselineWindow> windows;
  for (const CheckedRow& row : result.rows) {
    if (!row.run_index) continue;  // gone
    if (row.baseline_index && is_as_before(row.comparison.verdict)) {
      windows.push_back(baseline.windows[*row.baseline_index]);
      continue;
    }
    const WindowSummary& window = result.windows[*row.run_index];
    if (const std::string fault = stats::fault_of(window); !fault.empty()) {
      faults.push_back(fmt::format("{} cannot be a baseline: {}", window.name, fault));
      continue;
    }
    add_classes(window, baseline);
    const model::Group& group = result.groups[*row.run_index];
    windows.push_back(
        stats::to_baseline(window, result.data.text(group.program), model::base_name(result.data, group)));
  }
  baseline.windows = std::move(windows);
  return faults;
}

int write_update(const CheckResult& result, std::ostream& out, std::ostream& err) {
  model::Baseline baseline = result.baseline;
  const std::vector<std::string> faults = update(result, baseline);
  for (const std::string& fault : faults) err << "bench: " << fault << '\n';
  const std::string text = model::to_text(std::move(baseline));
  const std::string fault = faults.empty() ? write_file(result.baseline_file, text) : "no baseline was written";
  if (!fault.empty()) {
    err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  const bool is_new = text != model::to_text(result.baseline);
  out << fmt::format("{} {}\n", csv::printable(result.baseline_file),
                     is_new ? "is updated: read its diff before you commit it" : "is up to date: nothing was written");
  return cli::kExitOk;
}

int exit_code(const CheckResult& result) {
  const auto any = [&](auto has) {
    return std::any_of(result.rows.begin(), result.rows.end(),
                       [&](const CheckedRow& row) { return has(row.comparison); });
  };
  if (any(is_red)) return cli::kExitRegression;
  return any(is_unjudged) ? cli::kExitNoVerdict : cli::kExitOk;
}

}  // namespace

bool is_as_before(Verdict verdict) {
  return verdict == Verdict::same || verdict == Verdict::near || verdict == Verdict::moved;
}

bool is_red(const Comparison& row) {
  if (row.verdict == Verdict::regressed || row.verdict == Verdict::missing) return true;
  if (row.verdict != Verdict::errored) return false;
  // A test that the baseline knows as skipped and that passes now is as good as new.
  return std::any_of(row.new_window->outcomes.begin(), row.new_window->outcomes.end(),
                     [](const auto& outcome) { return outcome.first != "passed"; });
}

int check(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  CheckResult result;
  result.baseline_file = options.check.baseline.empty() ? cli::kBaselineFile : options.check.baseline;
  std::optional<model::Baseline> baseline = read_baseline(result.baseline_file, problems);
  if (!baseline) {
    problems.print(err);
    err << "bench: nothing was judged; `bench baseline update RUN...` writes a baseline\n";
    return cli::kExitBadInput;
  }
  result.baseline = std::move(*baseline);
  model::LoadOptions load;
  load.is_printable = true;  // names are those of the baseline
  load.all_runs = options.all_runs;
  if (!options.run_ids.empty()) load.run_id = options.run_ids.front();
  result.data = model::load(options.runs.front(), load, problems);
  const std::string fault =
      result.data.samples.empty() ? "nothing to judge: the run holds no test" : judge(options, result);
  if (!fault.empty()) {
    problems.print(err);
    err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  if (options.check.is_update) {
    problems.print(err);
    if (!problems.empty()) {
      err << "bench: no baseline was written\n";
      return cli::kExitBadInput;
    }
    return write_update(result, out, err);
  }
  switch (options.format) {
    case cli::Format::json:
      out << check_json(result);
      break;
    case cli::Format::md:
      out << check_markdown(result, options.all);
      break;
    default:
      out << check_text(result, options.all, paint);
      break;
  }
  problems.print(err);
  return problems.empty() ? exit_code(result) : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
