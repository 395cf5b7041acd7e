// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/run/run_programs.h"
#include "session/options/option_table.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kRunFooter =
    R"(bench run [OPTIONS] -- COMMAND [ARG]...

Measures programs as they are: COMMAND needs no rebuild, and its output and exit code stay its own. If COMMAND has
tests of GoogleTest, Catch2 or doctest, or benchmarks of Google Benchmark, or is a program that starts others (a shell,
ctest, make), each test has rows as if its program were linked with syscost. Any other COMMAND is measured as a whole,
with the programs that it starts, in a row of kind `process`. --tests and --process choose between the two. Each option
of a test program works, without its prefix: --csv for --syscost_csv. The summary goes to stderr.
Exit codes: that of COMMAND; 1 if COMMAND succeeded and nothing was measured; 2 usage, or COMMAND cannot be measured.

Examples:
  bench run -- ./my_tests --gtest_filter='Wal.*'
  bench run --csv pr.csv -- ctest -j8       a whole suite, as configured
  bench run -- rsync -a src dst             any program
  bench run --process --children -- make    all programs below make, a row for each)";

/// For --help, the manual page and completions; syscost-run parses these options. They are the options of test programs
/// without their prefix, and some of its own.
void add_measuring_options(CLI::App& app, cli::Raw& raw) {
  app.add_flag("--tests", raw.ignored_flag, "Measure the tests below COMMAND, whatever program it is");
  app.add_flag("--process", raw.ignored_flag, "Measure COMMAND as a whole, with the programs that it starts");
  app.add_option("--interval", raw.ignored,
                 "Of a COMMAND measured as a whole: also write a row for each interval, 100ms to 1440m")
      ->type_name("TIME");
  app.add_flag("--live", raw.ignored_flag,
               "Of a COMMAND measured as a whole: show the newest interval, and what is unusual in it, while it runs");
  for (const session::OptionEntry& entry : session::option_table()) {
    if (!entry.is_flag() || entry.name == "help") continue;
    const std::string name = "--" + std::string(entry.name);
    const std::string about = session::plain_text(entry.about);
    if (entry.stands_alone()) {
      app.add_flag(name, raw.ignored_flag, about);
      continue;
    }
    CLI::Option* const option = app.add_option(name, raw.ignored, about)->type_name(std::string(entry.value));
    if (entry.kind != session::ValueKind::word) continue;
    std::vector<std::string> words;
    for (const session::Word& word : entry.words) words.emplace_back(word.text);
    option->check(CLI::IsMember(words));
  }
}

void add_run(CLI::App& line, cli::Grammar& grammar) {
  add_measuring_options(line, grammar.raw);
}

}  // namespace

constinit const cli::Command kRunCommand = {
    .name = "run",
    .group = "Measure",
    .about = "Run a command, and measure its tests or the whole of it",
    .footer = kRunFooter,
    .add = add_run,
    .run = [](const cli::Options& options, const render::Paint&, std::ostream&,
              std::ostream& err) { return run_programs(options, err); },
    .is_read_elsewhere = true,
};

}  // namespace syscost::bench::commands
