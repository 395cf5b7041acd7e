// SPDX-License-Identifier: MIT
#include "cli/parse.h"

#include <algorithm>
#include <utility>

#include "cli/grammar.h"
#include "cli/help.h"
#include "cli/mistakes.h"
#include "cli/raw_options.h"
#include "cli/report_arguments.h"

namespace syscost::bench::cli {
namespace {

/// True when the options before the command ask for help.
bool asks_for_help(const std::vector<std::string>& args) {
  const auto end = std::find(args.begin(), args.end(), "--");
  return std::any_of(args.begin(), end, [](const std::string& arg) { return arg == "--help" || arg == "-h"; });
}

}  // namespace

Parsed parse(const std::vector<std::string>& typed) {
  const std::vector<std::string> args = with_help_last(typed);
  if (!args.empty() && !args[0].starts_with('-') && !is_command(args[0])) return usage_error(no_such_command(args[0]));
  // syscost-run parses these options: they are those of a test program.
  if (!args.empty() && args[0] == "run" && !asks_for_help(args)) {
    Options run;
    run.command = Command::run;
    run.run_arguments.assign(args.begin() + 1, args.end());
    return {run, {}, kExitOk};
  }
  Grammar grammar;
  Options& options = grammar.options;
  const Raw& raw = grammar.raw;
  const std::vector<std::string> own_args = split_commands(args, options);
  try {
    grammar.app.parse(std::vector<std::string>(own_args.rbegin(), own_args.rend()));
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, fitted_help(grammar.app.help()), kExitOk};
  } catch (const CLI::CallForVersion&) {
    return {std::nullopt, grammar.app.version() + '\n', kExitOk};
  } catch (const CLI::ParseError& error) {
    if (args.empty()) return {std::nullopt, grammar.commands_by_group(), kExitBadInput};
    return usage_error(mistake_in(grammar, args, error));
  }
  if (grammar.watch->parsed()) options.command = Command::watch;
  if (grammar.summary->parsed()) options.command = Command::summary;
  if (grammar.show->parsed()) {
    options.command = Command::show;
    put_run_first(grammar.run, {&options.test, &options.syscall});
    if (const std::string fault = no_such_run(grammar.run, *grammar.show); !fault.empty()) return usage_error(fault);
    options.runs = {grammar.run};
    // --test chooses the tests, so the word after RUN is a SYSCALL.
    if (!options.tests.empty() && !options.test.empty()) {
      if (!options.syscall.empty()) return usage_error("show takes a TEST or --test, not both");
      options.syscall = std::exchange(options.test, "");
    }
    if (!options.test.empty() && (!options.sort.empty() || raw.top) && !options.has_where) {
      return usage_error("--sort and --top select among several tests: leave TEST out, or give --test PATTERN");
    }
  }
  if (grammar.trace->parsed()) {
    options.command = Command::trace;
    TraceOptions& own = options.trace;
    put_run_first(own.from, {&own.test});
    if (const std::string fault = no_test_but(own.test, own.from, *grammar.trace); !fault.empty()) {
      return usage_error(fault);
    }
  }
  if (grammar.compare->parsed()) {
    options.command = Command::compare;
    options.runs = {grammar.old_run, grammar.new_run};
  }
  if (grammar.ab->parsed()) {
    options.command = Command::ab;
    if (options.is_counts_only && grammar.ab->count("--rounds") == 0) options.rounds = kCountRounds;
  }
  if (grammar.baseline_update->parsed()) options.command = Command::baseline_update;
  if (grammar.check->parsed()) {
    options.command = Command::check;
    if (!grammar.checked_run.empty() || grammar.check->count("RUN") > 0) options.runs = {grammar.checked_run};
  }
  if (grammar.runs->parsed()) options.command = Command::runs;
  if (grammar.log->parsed()) {
    options.command = Command::log;
    put_runs_last(options.test, options.runs);
    if (const std::string fault = no_run_but(options.runs); !fault.empty()) return usage_error(fault);
  }
  if (grammar.scale->parsed()) options.command = Command::scale;
  if (grammar.findings->parsed()) {
    options.command = Command::findings;
    put_run_first(grammar.run, {&options.test});
    if (const std::string fault = no_such_run(grammar.run, *grammar.findings); !fault.empty())
      return usage_error(fault);
    if (!grammar.run.empty()) options.runs = {grammar.run};
    if (options.runs.empty() && !options.findings.lists_rules) {
      return usage_error("findings needs a RUN, or --rules\nTry `bench findings --help`.");
    }
  }
  if (grammar.groups->parsed()) options.command = Command::groups;
  if (grammar.faults->parsed()) options.command = Command::faults;
  if (grammar.export_command->parsed()) options.command = Command::export_run;
  if (grammar.report->parsed()) {
    options.command = Command::report;
    if (options.runs.empty() && !options.page.compare.empty()) options.runs = {options.page.compare.back()};
    if (options.runs.empty())
      return usage_error("report needs a RUN, or --compare OLD NEW\nTry `bench report --help`.");
    if (options.page.output.empty()) options.page.output = page_name_for(options.runs.back());
  }
  if (grammar.doctor->parsed()) options.command = Command::doctor;
  return finish(std::move(options), raw);
}

}  // namespace syscost::bench::cli
