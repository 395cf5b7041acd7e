// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/ab/ab.h"
#include "commands/commands.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kAbFooter =
    R"(bench ab [OPTIONS] -- A [ARG]... [-- B [ARG]...]

Runs A and B in turns (A B, B A, A B, ...). Each run is a process with its own CSV, and a process is one sample. Compares
counts and times as `compare` does; A is OLD and B is NEW. Runs --rounds of each, and doubles the rounds while a time is
undecided. Starts no round that would end after --budget, except for the first. Ctrl-C compares the complete rounds.
Without B, runs A against itself and reports the noise of this machine. Uses no shell. A and B must be linked with
syscost, or be Google Benchmarks (times only).

Examples:
  bench ab -- build/main/tests -- build/pr/tests
  bench ab --budget 300 --keep ab/ -- main/tests --gtest_filter=Log.* -- pr/tests --gtest_filter=Log.*
  bench ab -- build/tests                   noise: how much equal code differs
  bench ab --gate time -- bare_benchmark -- linked_benchmark     what linking syscost costs: nothing)";

/// More rounds would make too many files for one folder.
constexpr std::size_t kMostRounds = 100'000;

void add_ab(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("--rounds", options.rounds, "Runs of each before the first verdict (10)");
  line.add_option("--budget", options.budget_s, "Time limit in seconds (60); one round always runs")
      ->type_name("SECONDS");
  line.add_flag("--counts", options.is_counts_only,
                fmt::format("Compare counts only: {} rounds; times are not judged", cli::kCountRounds));
  line.add_flag("--whole", options.has_whole,
                "Also compare the times of the whole commands; they may then be any programs");
  line.add_option("--keep", options.keep, "Keep the CSVs of all runs in this new folder")
      ->type_name("DIR")
      ->check(cli::not_empty());
  cli::add_selection_options(line, grammar, cli::kCompareKeys);
  cli::add_judging_options(line, grammar, "all");
  cli::add_report_options(line, options, grammar.raw);
  cli::add_size_option(line, options, "60000");
}

std::string read_ab(cli::Grammar& grammar, const CLI::App& line) {
  cli::Options& options = grammar.options;
  if (options.is_counts_only && line.count("--rounds") == 0) options.rounds = cli::kCountRounds;
  options.gate = cli::kGates.at(options.is_counts_only ? "counts" : "all");
  return {};
}

std::string fault_of_ab(cli::Options& options) {
  if (options.is_counts_only && (options.gate.times() || options.has_whole)) {
    return "--counts judges no time: leave out --gate and --whole, or --counts";
  }
  if (options.rounds < 1 || options.rounds > kMostRounds) {
    return fmt::format("--rounds takes a number from 1 to {}", kMostRounds);
  }
  if (!std::isfinite(options.budget_s) || options.budget_s < 0) return "--budget takes a number of seconds, 0 or more";
  if (options.a.empty()) return "ab needs a command after `--`: bench ab -- A [ARG]... -- B [ARG]...";
  for (const std::vector<std::string>& command : {options.a, options.b}) {
    if (!command.empty() && command[0].empty()) return "a command of ab after `--` is empty";
  }
  return {};
}

}  // namespace

constinit const cli::Command kAbCommand = {
    .name = "ab",
    .group = "Measure",
    .about = "Run two commands in turns and compare them",
    .footer = kAbFooter,
    .add = add_ab,
    .read = read_ab,
    .check = fault_of_ab,
    .run = [](const cli::Options& options, const render::Paint& paint, std::ostream& out,
              std::ostream& err) { return ab(options, paint, out, err); },
    .commands_after_mark = 2,
    .after_mark = " -- A [ARG]... [-- B [ARG]...]",
    .judges = true,
};

}  // namespace syscost::bench::commands
