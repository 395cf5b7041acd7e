// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/faults/faults.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kFaultsFooter =
    R"(Runs each test of TESTS once without a failure, and learns its syscalls. Then runs it again for each of them: in each run
one call fails, and TESTS does what it does then. Each run is a process with a temporary folder of its own. Prints for each
call site what the tests made of it, the worst first.
TESTS is a program of GoogleTest, Catch2 or doctest, linked with syscost or not. No root and no strace is needed.

Outcomes, the worst first:
  crashed      a signal ended the program: SIGSEGV, or SIGABRT of an exception that no one caught
  hung         it ran until its time limit, and was killed
  leaked       the test passed, and left more descriptors open than without the failure
  exited       the program ended before the test did
  ignored?     the test passed and made the same syscalls as ever, though what it wrote may be lost
  survived     the test passed: the code took another way, or needs no success of this call
  reported     the test failed, or the program after it: it saw the error
  not reached  the call did not come in this run; this is no success
By default the first call of each call site fails. --every-call fails all, --sample N some of them.

Exit codes: 0; 1 with --fail-on; 2 usage, input or I/O, no test passes by itself, none met a failure, or the tests changed
files of this folder; 3 interrupted.

Examples:
  bench faults -- ./store_test                       all tests, the calls on files and memory
  bench faults --test 'Store.*' --sample 200 --jobs 2 -- ./store_test
  bench faults --calls write,fsync --errnos ENOSPC,EIO -- ./store_test
  bench faults --state sweep.jsonl -- ./store_test   goes on where the last sweep with this file stopped
  bench faults --state sweep.jsonl --format csv      prints what it found, and runs nothing
  bench faults --fail-on crashed,hung -- ./store_test
  SYSCOST_INJECT=write:error=ENOSPC:nth=3 bench run -- ./store_test --gtest_filter=Store.Saves    one failure again)";

void add_faults(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  cli::FaultsOptions& own = options.faults;
  line.add_option("--calls", own.calls, "Only these: names, %classes, /regex/, !negations, with commas between")
      ->type_name("SELECTOR")
      ->check(cli::not_empty());
  cli::add_list(line, "--errnos", own.errors, "NAME,...",
                "These errors for each call, instead of those of the table. SHORT: reads and writes move one byte");
  line.add_flag("--lasting", own.is_lasting,
                "Each later call of the same syscall fails, too, as on a disk that stays full");
  line.add_flag("--errors", own.lists_errors, "Print the table of calls and their errors, with the reasons");
  cli::add_test_option(line, options);
  line.add_flag("--every-call", own.has_every_call, "Fail every call, not only the first of each call site");
  line.add_option("--sample", own.sample,
                  "At most N failures, spread over all tests and call sites; prints how many are left out")
      ->type_name("N")
      ->check(cli::at_least_1(1'000'000'000));
  line.add_option("--seed", own.seed, "Another sample of the same size (1)")->type_name("N");
  line.add_option("--jobs", own.jobs, "Runs at a time (1)")->type_name("N")->check(cli::at_least_1(256));
  line.add_option("--timeout", own.timeout_s,
                  "Time limit of a run in seconds (10); ten times the test's own time, if that is more")
      ->type_name("SECONDS")
      ->check(cli::at_least_1(86'400));
  line.add_option(
          "--cwd", own.folder,
          "Working directory of a run: a new folder with copies of the files in this one, and links to those that "
          "are too large (auto, default), with copies of all (copy), with links alone (links), or this one (here)")
      ->check(CLI::IsMember({"auto", "copy", "links", "here"}));
  line.add_flag("--private-tmp", own.has_own_tmp,
                "Give each run a /tmp of its own, for tests that write to /tmp by name; TESTS must lie elsewhere");
  line.add_option("--framework", own.framework, "googletest, catch2 or doctest (found by TESTS --help)")
      ->check(CLI::IsMember({"googletest", "catch2", "doctest"}));
  line.add_flag("--no-where", own.has_no_lines, "Do not look for the lines of calls; fail every call, then");
  line.add_option("--state", own.state,
                  "Keep results in FILE, and go on with those that are there; without TESTS: print them")
      ->type_name("FILE")
      ->check(cli::not_empty());
  cli::add_list(line, "--fail-on", own.fail_on, "OUTCOME,...",
                "Exit code 1 for one of these outcomes, or for the first five (any)");
  line.add_option("--top", grammar.raw.top, "At most N failures of text and Markdown are named; 0: all (20)")
      ->type_name("N");
  line.add_option("--format", grammar.raw.format, "text (default), md, csv, json or github")
      ->check(CLI::IsMember(cli::kFormats) | CLI::IsMember(std::vector<std::string>{"github"}));
  cli::add_locations_option(line, options);
  cli::add_color_option(line, grammar.raw);
  cli::add_size_option(line, options, "1000000");
}

std::string fault_of_faults(cli::Options& options) {
  const cli::FaultsOptions& own = options.faults;
  if (options.a.empty() && own.state.empty() && !own.lists_errors) {
    return "faults needs a test program after `--`: bench faults -- ./tests\nTry `bench faults --help`.";
  }
  if (!options.a.empty() && options.a[0].empty()) return "the command of faults after `--` is empty";
  return {};
}

}  // namespace

constinit const cli::Command kFaultsCommand = {
    .name = "faults",
    .group = "Measure",
    .about = "Fail each syscall of each test, and see what the test makes of it",
    .footer = kFaultsFooter,
    .add = add_faults,
    .check = fault_of_faults,
    .run = faults_command,
    .commands_after_mark = 1,
    .after_mark = " -- COMMAND [ARG]...",
};

}  // namespace syscost::bench::commands
