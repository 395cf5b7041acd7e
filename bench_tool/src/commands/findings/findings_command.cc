// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "cli/mistakes.h"
#include "commands/commands.h"
#include "commands/findings/findings.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kFindingsFooter =
    R"(Each rule looks for one thing: many small writes, a file that is opened again and again, sleeping, busy polling.
--rules says when each one has a finding, which is a fault that the data proves, or a note, which is a cost that may be
on purpose (--notes). Some rules need the order of calls, and paths: run the tests with
--syscost_trace. A rule that lacks data is named, with what it needs. With --syscost_where findings have a line.
Exit codes: 0, also with findings; 2 usage, input or I/O. With --fail-on: 1 if there is such a finding; 3 if the rule was
checked nowhere, or if calls of a test are not known.

Examples:
  bench findings out.csv                    all tests of the newest run
  bench findings out.csv Log.Write          one of them
  bench findings out.csv --ignore sleep-in-test --fail-on any
  bench findings out.csv --format sarif     for code scanning)";

void add_findings(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("RUN", grammar.run, cli::kRunHelp);
  line.add_option("TEST", options.test, "Its name, or a part of names");
  cli::add_test_option(line, options);
  cli::add_repeatable(line, "--ignore", options.findings.ignored, "RULE", "Leave this rule out; may be repeated");
  cli::add_repeatable(
      line, "--fail-on", options.findings.fail_on, "RULE",
      "Exit code 1 if this rule has a finding or a note, or any rule (`any`) a finding; may be repeated");
  line.add_flag("--notes", options.findings.has_notes,
                "Print notes, too: costs that the data does not prove to be faults");
  line.add_flag("--rules", options.findings.lists_rules, "Print what each rule looks for, and what it needs");
  line.add_option("--artifacts", options.findings.artifacts,
                  "Folder with traces of the run (syscost_artifacts beside the CSV)")
      ->type_name("FOLDER")
      ->check(cli::not_empty());
  line.add_option("--top", grammar.raw.top,
                  "At most N lines with findings of text and Markdown, and N with notes; 0: all (20)")
      ->type_name("N");
  line.add_option("--format", grammar.raw.format, "text (default), md, csv, json, sarif or github")
      ->check(CLI::IsMember(cli::kFormats) | CLI::IsMember(std::vector<std::string>{"sarif", "github"}));
  cli::add_locations_option(line, options);
  cli::add_color_option(line, grammar.raw);
  cli::add_size_option(line, options, "1000000");
  cli::add_run_options(line, options);
}

std::string read_findings(cli::Grammar& grammar, const CLI::App& line) {
  cli::Options& options = grammar.options;
  cli::put_run_first(grammar.run, {&options.test});
  if (std::string fault = cli::no_such_run(grammar.run, line); !fault.empty()) return fault;
  if (!grammar.run.empty()) options.runs = {grammar.run};
  if (options.runs.empty() && !options.findings.lists_rules) {
    return "findings needs a RUN, or --rules\nTry `bench findings --help`.";
  }
  return {};
}

}  // namespace

constinit const cli::Command kFindingsCommand = {
    .name = "findings",
    .group = "Look",
    .about = "What tests do that costs more than it has to, and what to do about it",
    .footer = kFindingsFooter,
    .add = add_findings,
    .read = read_findings,
    .run = findings_command,
};

}  // namespace syscost::bench::commands
