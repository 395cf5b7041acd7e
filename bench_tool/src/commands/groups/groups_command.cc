// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/groups/groups.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kGroupsFooter =
    R"(Two tests behave alike if they make the same syscalls about as often. Waits, memory and calls that vary do not count,
because other tests and chance decide about them. The number of groups is the one with the best silhouette; it must be
better than that of data without groups, else all tests are one group. The tests of a fixture share the calls that each
of them makes. docs/groups.md has the definitions.

Examples:
  bench groups out.csv                      kinds of tests, and the fixtures that make the most calls
  bench groups out.csv --all                every test of each group
  bench groups out.csv --format csv         a line for each test)";

void add_groups(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("RUN", options.runs, cli::kRunHelp)->required();
  line.add_flag("--all", options.all, "Name every test of each group");
  cli::add_test_option(line, options);
  cli::add_output_options(line, grammar.raw);
  cli::add_size_option(line, options, "1000000");
  cli::add_run_options(line, options);
}

}  // namespace

constinit const cli::Command kGroupsCommand = {
    .name = "groups",
    .group = "Look",
    .about = "Kinds of tests: which behave alike, and what a fixture costs",
    .footer = kGroupsFooter,
    .add = add_groups,
    .run = groups_run,
};

}  // namespace syscost::bench::commands
