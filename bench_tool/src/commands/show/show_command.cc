// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "cli/mistakes.h"
#include "commands/commands.h"
#include "commands/show/show.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kShowFooter =
    R"(TEST may be a part of the name if only one test has it.
Without TEST, show prints the only test of RUN; with --test, --sort or --top all tests that they select, the worst first.

Examples:
  bench show out.csv Log.Write              every syscall of the test
  bench show out.csv Log.Write write        one of them
  bench show out.csv Log.Write %file,!close a class of them, with an exception
  bench show out.csv --test 'Log.*' write   the same of several tests
  bench show out.csv --sort calls --top 3   the three tests with the most calls
  bench show out.csv Log.Write --where      the lines of the program that make its calls
  bench show out.csv Log.Write write --fine full resolution: 8 rows per power of two
  bench show stamps.csv                     what the GPU stamps of each launch say
  bench show stamps.csv sum_tree --svg sum.svg      and a picture of one
  bench show stacks.folded --svg flame.svg  a flame graph of call stacks)";

void add_show(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("RUN", grammar.run, cli::kRunHelp)->required();
  line.add_option("TEST", options.test,
                  "Its name, or a part that only one test has; of a stamp file a part of the launches' names");
  line.add_option("SYSCALL", options.syscall, "Only these: names, %classes, /regex/, !negations, with commas between");
  cli::add_selection_options(line, grammar, cli::kSummaryKeys);
  CLI::Option* const fine = line.add_flag("--fine", options.is_fine, "Full resolution: 8 rows per power of two");
  line.add_flag("--where", options.has_where,
                "Print the lines of the program that make the calls; RUN needs --syscost_where")
      ->excludes(fine);
  line.add_option("--svg", options.svg,
                  "Write a picture to FILE: of one launch of a stamp file, of folded stacks, or of --where")
      ->type_name("FILE")
      ->check(cli::not_empty());
  cli::add_output_options(line, grammar.raw);
  cli::add_run_options(line, options);
}

std::string read_show(cli::Grammar& grammar, const CLI::App& line) {
  cli::Options& options = grammar.options;
  cli::put_run_first(grammar.run, {&options.test, &options.syscall});
  if (std::string fault = cli::no_such_run(grammar.run, line); !fault.empty()) return fault;
  options.runs = {grammar.run};
  // --test chooses the tests, so the word after RUN is a SYSCALL.
  if (!options.tests.empty() && !options.test.empty()) {
    if (!options.syscall.empty()) return "show takes a TEST or --test, not both";
    options.syscall = std::exchange(options.test, "");
  }
  if (!options.test.empty() && (!options.sort.empty() || grammar.raw.top) && !options.has_where) {
    return "--sort and --top select among several tests: leave TEST out, or give --test PATTERN";
  }
  options.sorts_lines = options.has_where && !options.test.empty();
  return {};
}

}  // namespace

constinit const cli::Command kShowCommand = {
    .name = "show",
    .group = "Look",
    .about = "Latency histograms and numbers of one test",
    .footer = kShowFooter,
    .add = add_show,
    .read = read_show,
    .run = show,
    .alias = "hist",
};

}  // namespace syscost::bench::commands
