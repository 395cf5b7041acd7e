// SPDX-License-Identifier: MIT
#include "commands/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <ostream>
#include <set>

#include "csv/problems.h"
#include "model/loader.h"
#include "stats/pairing.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;
using stats::Verdict;
using stats::WindowSummary;

/// The distinct texts of one context column over the samples that are compared.
std::string values_of(const model::Dataset& data, model::NameId model::Context::*field) {
  std::set<std::string> values;
  for (const model::Sample& sample : data.samples) values.insert(data.text(data.context(sample).*field));
  return fmt::format("{}", fmt::join(values, "+"));
}

void add_warnings(CompareResult& result) {
  result.old_backend = values_of(result.old_data, &model::Context::backend);
  result.new_backend = values_of(result.new_data, &model::Context::backend);
  struct Check {
    const char* what;
    model::NameId model::Context::*field;
    const char* consequence;
    bool spoils_times;
    const char* if_empty = "?";
  };
  static constexpr std::array<Check, 6> kChecks = {{
      {"backend", &model::Context::backend, "times are not comparable", true},
      {"build type", &model::Context::build_type, "times are not comparable", true},
      {"host", &model::Context::host, "times come from two machines", false},
      {"kernel", &model::Context::kernel, "times and counts may differ for that reason alone", false},
      {"selection", &model::Context::selection,
       "what the first use of a library asks of the kernel may fall into other tests", false},
      {"filter", &model::Context::filter, "other syscalls were counted; neither counts nor times are comparable", true,
       "none"},
  }};
  for (const Check& check : kChecks) {
    const std::string old_value = values_of(result.old_data, check.field);
    const std::string new_value = values_of(result.new_data, check.field);
    if (old_value == new_value) continue;
    result.warnings.push_back(fmt::format("{} differs ({} -> {}): {}", check.what,
                                          old_value.empty() ? check.if_empty : old_value,
                                          new_value.empty() ? check.if_empty : new_value, check.consequence));
    result.times_comparable = result.times_comparable && !check.spoils_times;
  }
}

/// Groups of one side as pairing sees them, with their summaries.
std::vector<stats::PairCandidate> summarize_side(model::Dataset& data, std::vector<WindowSummary>& windows) {
  const std::vector<model::Group> groups = model::group_samples(data);
  windows = stats::summarize_all(data, groups, true);
  std::vector<stats::PairCandidate> candidates;
  candidates.reserve(groups.size());
  for (const model::Group& group : groups) {
    candidates.push_back({model::base_name(data, group), data.text(group.program), group.is_test(data)});
  }
  return candidates;
}

model::LoadOptions load_options(const cli::Options& options, std::size_t side) {
  model::LoadOptions load;
  load.all_runs = options.all_runs;
  load.loads_at_once = 2;
  load.for_people = options.for_people();
  if (!options.run_ids.empty()) load.run_id = options.run_ids[std::min(side, options.run_ids.size() - 1)];
  return load;
}

/// Loads both sides, each on a thread of its own.
void load_both(const cli::Options& options, CompareResult& result, csv::Problems& problems) {
  csv::Problems new_problems;
  auto other = std::async(std::launch::async,
                          [&] { return model::load(options.runs[1], load_options(options, 1), new_problems); });
  result.old_data = model::load(options.runs[0], load_options(options, 0), problems);
  result.new_data = other.get();
  problems.append_unnoted(new_problems);
}

void write(const cli::Options& options, const CompareResult& result, const render::Paint& paint, std::ostream& out,
           std::ostream& err) {
  switch (options.format) {
    case cli::Format::json:
      out << compare_json(result);
      return;
    case cli::Format::csv:
      for (const std::string& warning : result.warnings) err << "bench: warning: " << warning << '\n';
      out << compare_csv(result);
      return;
    case cli::Format::md:
    case cli::Format::text:
      out << compare_text(result, options.all, options.format == cli::Format::md, paint);
      return;
  }
}

int verdict_code(const cli::Options& options, const CompareResult& result) {
  auto any = [&](auto is) {
    return std::any_of(result.rows.begin(), result.rows.end(), [&](const Comparison& row) { return is(row.verdict); });
  };
  if (options.gate == cli::Gate::counts && any([](Verdict verdict) { return verdict == Verdict::regressed; })) {
    return cli::kExitRegression;
  }
  return options.is_strict && any(stats::has_no_answer) ? cli::kExitNoVerdict : cli::kExitOk;
}

}  // namespace

int compare(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  CompareResult result;
  load_both(options, result, problems);
  if (result.old_data.samples.empty() || result.new_data.samples.empty()) {
    problems.print(err);
    err << "bench: nothing to compare: " << (result.old_data.samples.empty() ? options.runs[0] : options.runs[1])
        << " holds no test\n";
    return cli::kExitBadInput;
  }
  const auto old_side = summarize_side(result.old_data, result.old_windows);
  const auto new_side = summarize_side(result.new_data, result.new_windows);
  const stats::Pairing pairing = stats::pair_windows(old_side, new_side, options.pairs);
  if (!pairing.faults.empty()) {
    problems.print(err);
    for (const std::string& fault : pairing.faults) err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  if (pairing.single) {
    result.paired = stats::pair_name(result.old_windows[*pairing.single->old_index].name,
                                     result.new_windows[*pairing.single->new_index].name) +
                    " (one test in each file)";
  }
  add_warnings(result);
  const stats::Tolerance tolerance{options.near_abs, options.near_rel / 100};
  bool is_anything_paired = false;
  for (const stats::Pair& pair : pairing.pairs) {
    const WindowSummary* old_window = pair.old_index ? &result.old_windows[*pair.old_index] : nullptr;
    const WindowSummary* new_window = pair.new_index ? &result.new_windows[*pair.new_index] : nullptr;
    result.rows.push_back(stats::compare_windows(old_window, new_window, tolerance));
    is_anything_paired = is_anything_paired || (old_window != nullptr && new_window != nullptr);
  }
  write(options, result, paint, out, err);
  problems.print(err);
  if (!is_anything_paired) {
    err << "bench: no test is in both runs, so nothing was compared; name renamed tests with --pair OLD=NEW\n";
    return cli::kExitBadInput;
  }
  return problems.empty() ? verdict_code(options, result) : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
