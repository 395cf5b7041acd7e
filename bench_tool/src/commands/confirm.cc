// SPDX-License-Identifier: MIT
#include "commands/confirm.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "commands/compare.h"
#include "commands/confirmation.h"
#include "commands/count_rules.h"
#include "csv/printable.h"
#include "csv/problems.h"
#include "model/loader.h"
#include "model/program_names.h"
#include "render/markdown.h"

namespace syscost::bench::commands {
namespace {

/// Judges OLD against `result.new_data`. Returns why it could not, or "".
std::string judge_against_old(const cli::Options& options, CompareResult& result, csv::Problems& problems) {
  result.old_data = model::load(options.runs[0], load_options(options, 0), problems);
  if (result.old_data.samples.empty()) return "nothing to compare: OLD holds no test";
  if (result.new_data.samples.empty()) return "nothing to compare: the run holds no test";
  const std::vector<std::string> faults = judge(options, result);
  return faults.empty() ? std::string() : faults.front();
}

int refuse(const csv::Problems& problems, const std::string& fault, std::ostream& err) {
  problems.print(err);
  err << "bench: " << csv::printable_lines(fault) << (fault.ends_with('\n') ? "" : "\n");
  return cli::kExitBadInput;
}

}  // namespace

int confirm(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  cli::Options options = asked;
  csv::Problems problems;
  CompareResult result;
  result.count_rules = add_rules_of_file(options.config, options.counts, problems).line;
  if (!problems.empty()) return refuse(problems, "nothing was confirmed", err);
  result.new_data = model::load(options.runs[1], load_options(options, 1), problems);
  if (const std::string fault = judge_against_old(options, result, problems); !fault.empty()) {
    return refuse(problems, fault, err);
  }
  Confirmation confirmation(result.rows, options.gate);
  Suspicion suspicion;
  suspicion.count = [&] { return confirmation.suspects(); };
  suspicion.programs = [&] { return confirmation.programs(); };
  suspicion.take = [&](const std::string& csv) -> std::string {
    csv::Problems ignored;  // of OLD, once more
    csv::Problems its_problems;
    CompareResult again;
    again.known_programs = model::names_told_apart(result.new_data);
    model::LoadOptions load;
    load.all_runs = true;  // the file is ours, so all its rows count, under any run_id
    load.is_printable = options.is_printable();
    again.new_data = model::load(csv, load, its_problems);
    std::string fault = judge_against_old(options, again, ignored);
    its_problems.print(err);
    if (!fault.empty() || !its_problems.empty()) return fault + "; nothing is confirmed\n";
    return confirmation.take(again.rows);
  };
  if (problems.empty()) {
    const std::string fault = run_again(options.a, options.check.times, suspicion, err);
    if (!fault.empty()) return refuse(problems, fault, err);
    for (stats::Comparison& row : result.rows) confirmation.apply_to(row);
  }
  const std::string text = confirmation.text();
  (options.for_people() ? out : err) << (options.format == cli::Format::md ? render::escaped_lines(text) : text);
  return report(options, result, problems, paint, out, err);
}

}  // namespace syscost::bench::commands
