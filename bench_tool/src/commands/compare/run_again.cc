// SPDX-License-Identifier: MIT
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <set>
#include <vector>

#include "commands/compare/compare.h"
#include "commands/shared/command_runs.h"
#include "csv/problems.h"
#include "judge/open_counts.h"
#include "model/loader.h"
#include "model/programs.h"

namespace syscost::bench::commands {

bool toss_coin() {
  unsigned char random = 0;
  while (getrandom(&random, 1, 0) < 0 && errno == EINTR) {
  }
  return (random & 1U) != 0;
}

std::string run_again(const cli::Options& options, CompareResult& result, std::ostream& err, const Coin& coin) {
  const std::array<const std::vector<std::string>*, 2> commands = {&options.old_command, &options.new_command};
  const bool has_both = !options.old_command.empty();
  judge::OpenCounts open(result.rows, has_both ? judge::RunsAgain::both_sides : judge::RunsAgain::new_side);
  if (open.tests() == 0) return {};
  for (const std::vector<std::string>* command : commands) {
    if (std::string fault = fault_of_programs(*command, open.programs()); !fault.empty()) return fault;
  }
  CommandRuns runs(options.run_budget_s, judge::OpenCounts::kMostRuns, err);
  if (!runs.fault().empty()) return runs.fault() + '\n';
  if (open.asks_for_leaks()) runs.ask_for_leaks();
  cli::Options judging = options;
  judging.is_counts_only = true;
  judging.locations.clear();
  // A further run of one side is compared with the first run of the other.
  std::array<CompareResult, 2> again;
  csv::Problems ignored;  // noted before
  again[1].old_data = model::load(options.runs[0], load_options(options, 0), ignored);
  again[0].new_data = model::load(options.runs[1], load_options(options, 1), ignored);
  model::LoadOptions load = load_options(options, 0);
  load.run_id.clear();
  load.all_runs = true;  // the file is ours, so all its rows count, under any run_id
  for (CompareResult& one : again) one.known_programs = model::names_told_apart(result.new_data);
  bool is_new = true;
  const auto command_of = [&]() -> const std::vector<std::string>& {
    is_new = !has_both || coin();
    return *commands[is_new ? 1 : 0];
  };
  const auto take = [&](const std::string& csv) -> std::string {
    CompareResult& one = again[is_new ? 1 : 0];
    csv::Problems problems;
    model::Dataset& data = is_new ? one.new_data : one.old_data;
    data = model::load(csv, load, problems);
    problems.print(err);
    if (!problems.empty()) return "a further run could not be read, so nothing is decided\n";
    if (data.samples.empty()) return "a further run holds no test, so nothing is decided\n";
    one.warnings.clear();
    if (const std::vector<std::string> faults = judge(judging, one); !faults.empty()) return faults.front() + '\n';
    open.take(is_new ? one.new_windows : one.old_windows, one.rows, is_new);
    return {};
  };
  while (open.tests() > 0 && runs.may_go_on()) {
    if (std::string fault = runs.run_round(open.programs(), open.tests(), command_of, take); !fault.empty()) {
      return fault;
    }
  }
  for (judge::Comparison& row : result.rows) open.apply_to(row);
  result.further_runs = runs.text() + open.text();
  return {};
}

}  // namespace syscost::bench::commands
