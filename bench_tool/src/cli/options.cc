// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "cli/check_arguments.h"
#include "cli/footers.h"
#include "cli/help.h"
#include "cli/raw_options.h"
#include "cli/validators.h"
#include "csv/printable.h"
#include "model/suggestion.h"
#include "syscost/schema.h"

namespace syscost::bench::cli {
namespace {

/// Commands of the design that are not built yet: naming them beats "unexpected argument".
constexpr std::array<std::string_view, 2> kLaterCommands = {"report", "export"};
constexpr std::array<std::string_view, 11> kCommands = {"summary", "show",     "hist",  "log",     "runs",  "compare",
                                                        "ab",      "baseline", "check", "confirm", "doctor"};

void add_color_option(CLI::App& app, Raw& raw) {
  app.add_option("--color", raw.color, "auto (default; a terminal, and NO_COLOR is not set), always or never")
      ->check(CLI::IsMember(kColors));
  app.add_option("--width", raw.width, "Columns of text; 0: as wide as it gets (default: the terminal's; 0 elsewhere)")
      ->type_name("N");
}

/// Which tests, in which order, and how many of them.
void add_selection_options(CLI::App& app, Options& options, Raw& raw, std::string_view keys) {
  app.add_option("--test,--filter", options.tests,
                 "Only tests that fit, in the words of --gtest_filter: Log.*:Net.?-*Slow*")
      ->type_name("PATTERN")
      ->check(not_empty());
  app.add_option("--sort", options.sort, fmt::format("Order of the tests: {}", keys))->type_name("KEY");
  app.add_option("--top", raw.top,
                 "So many tests at most; 0: all (default: what a terminal has room for; elsewhere all)")
      ->type_name("N");
}

void add_output_options(CLI::App& app, Raw& raw) {
  app.add_option("--format", raw.format, "text (default), md, csv or json")->check(CLI::IsMember(kFormats));
  add_color_option(app, raw);
}

/// Of the commands that judge.
void add_report_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--format", raw.format, "text (default), md, csv, json, junit, sarif or github")
      ->check(CLI::IsMember(kFormats) | CLI::IsMember(kReports));
  app.add_option("--locations", options.locations,
                 "For junit, sarif and github: files and lines of tests, as TESTS --gtest_list_tests "
                 "--gtest_output=json:FILE writes them; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(not_empty());
  add_color_option(app, raw);
}

/// Of the commands with Markdown that grows with the number of tests.
void add_size_option(CLI::App& app, Options& options, const char* most) {
  app.add_option("--max-bytes", options.max_bytes, fmt::format("Most bytes of --format md, 1000 or more ({})", most))
      ->type_name("N")
      ->check(at_least_1000());
}

// Defaults stand in the descriptions: CLI11 2.4 shows its own in another way than 2.3.

void add_repeatable(CLI::App& app, const char* name, std::vector<std::string>& values, const char* type,
                    const char* help) {
  app.add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(not_empty());
}

/// Which counts may vary, and how far.
void add_count_options(CLI::App& app, Raw& raw) {
  app.add_option("--near-abs", raw.near_abs, "Tolerance in calls; without it 1 where counts vary, else 0");
  app.add_option("--near-rel", raw.near_rel, "Tolerance in percent; without it 1 where counts vary, else 0");
  add_repeatable(app, "--tolerate", raw.tolerances, "SELECTOR=N",
                 "Tolerance for some syscalls, in calls (read=3) or percent (%file=5%); may be repeated");
  add_repeatable(app, "--volatile", raw.volatiles, "SELECTOR",
                 "Show these syscalls' changes and do not gate them, as those of class %volatile; may be repeated");
}

/// What compare and ab have in common.
void add_judging_options(CLI::App& app, Options& options, Raw& raw, const char* gate) {
  app.add_flag("--all", options.all, "Show unchanged tests too (csv and json always do)");
  add_repeatable(app, "--pair", raw.pairs, "OLD=NEW", "Compare test OLD with test NEW; may be repeated");
  app.add_option("--gate", raw.gate,
                 fmt::format("What ends in exit code 1: counts, time (= wall,cpu), wall, cpu, all or none ({})", gate));
  app.add_option("--allow", raw.allowed, "Tests that do not fail the gate: missing, failed or skipped in NEW")
      ->type_name("WORD,...")
      ->delimiter(',')
      ->check(CLI::IsMember({"missing", "failed", "skipped"}));
  app.add_option("--threshold", options.threshold, "Change of a time in percent that matters (3)");
  app.add_flag("--strict", options.is_strict, "Exit 3 when a test has no verdict");
  app.add_option(
         "--config", options.config,
         fmt::format("Take `volatile` and `tolerate` of this file, as check does ({}, if there is one)", kBudgetsFile))
      ->type_name("FILE")
      ->check(not_empty());
  add_count_options(app, raw);
}

void add_run_options(CLI::App& app, Options& options, int most_ids) {
  auto* run = app.add_option(
      "--run", options.run_ids,
      most_ids == 1 ? "Read this run instead of the newest: its run_id, newest~1, label:TEXT or commit:TEXT"
                    : "Read this run instead of the newest: its run_id, newest~1, label:TEXT or "
                      "commit:TEXT; given twice: one for OLD, one for NEW");
  run->type_name("ID")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--all-runs", options.all_runs, "Pool all runs of each file")->excludes(run);
}

}  // namespace

Parsed parse(const std::vector<std::string>& args) {
  if (!args.empty() && !args[0].starts_with('-')) {
    if (std::find(kLaterCommands.begin(), kLaterCommands.end(), args[0]) != kLaterCommands.end()) {
      return usage_error(fmt::format("`{}` is not in this version; it has {}", args[0], fmt::join(kCommands, ", ")));
    }
    if (std::find(kCommands.begin(), kCommands.end(), args[0]) == kCommands.end()) {
      return usage_error(fmt::format("no command `{}`; there are {}{}", args[0], fmt::join(kCommands, ", "),
                                     model::or_rather(args[0], {kCommands.begin(), kCommands.end()})));
    }
  }
  Options options;
  Raw raw;
  const std::vector<std::string> own_args = split_commands(args, options);
  CLI::App app("bench reads the CSVs of syscost: what each test asked of the kernel, and what changed", "bench");
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("bench {}, reads CSVs of schema version {}", SYSCOST_VERSION, schema::kSchemaVersion));
  app.footer(kMainFooter);

  auto* summary = app.add_subcommand("summary", "What each test asked of the kernel")->footer(kSummaryFooter);
  summary->add_option("RUN", options.runs, kRunHelp)->required();
  summary->add_flag("--details", options.has_details, "The tables of every test, not only of the one that was chosen");
  add_selection_options(*summary, options, raw, fmt::format("{} (worst)", fmt::join(kSummaryKeys, ", ")));
  add_output_options(*summary, raw);
  add_size_option(*summary, options, "1000000");
  add_run_options(*summary, options, 1);

  std::string run;
  auto* show = app.add_subcommand("show", "Latency histograms and numbers of one test")->alias("hist");
  show->footer(kShowFooter);
  show->add_option("RUN", run, kRunHelp)->required();
  show->add_option("TEST", options.test,
                   "Its name, or a part that only one test has; of a stamp file a part of the launches' names");
  show->add_option("SYSCALL", options.syscall, "Only these: names, %classes, /regex/, !negations, with commas between");
  add_selection_options(*show, options, raw, fmt::format("{} (worst)", fmt::join(kSummaryKeys, ", ")));
  show->add_flag("--fine", options.is_fine, "Full resolution: 8 rows per power of two");
  show->add_option("--svg", options.svg, "Of one launch of a stamp file: write its picture here")
      ->type_name("FILE")
      ->check(not_empty());
  add_output_options(*show, raw);
  add_run_options(*show, options, 1);

  std::string old_run;
  std::string new_run;
  auto* compare = app.add_subcommand("compare", "What changed between two runs")->footer(kCompareFooter);
  compare->add_option("OLD", old_run, kRunHelp)->required();
  compare->add_option("NEW", new_run, "The same, for the run that is judged")->required();
  add_selection_options(*compare, options, raw, fmt::format("{} (worst)", fmt::join(kCompareKeys, ", ")));
  add_judging_options(*compare, options, raw, "counts");
  add_report_options(*compare, options, raw);
  add_size_option(*compare, options, "60000");
  add_run_options(*compare, options, 2);

  auto* ab = app.add_subcommand("ab", "Run two commands in turns and compare them")->footer(kAbFooter);
  ab->add_option("--rounds", options.rounds, "Runs of each before the first verdict (10)");
  ab->add_option("--budget", options.budget_s, "Seconds it may take (60); one round is run in any case")
      ->type_name("SECONDS");
  ab->add_flag("--counts", options.is_counts_only,
               fmt::format("Counts alone: {} rounds, and times are neither judged nor waited for", kCountRounds));
  ab->add_flag("--whole", options.has_whole,
               "Compare what the commands themselves take, too, from start to end; then they may be any programs");
  ab->add_option("--keep", options.keep, "Keep the CSVs of all runs in this new folder")
      ->type_name("DIR")
      ->check(not_empty());
  add_judging_options(*ab, options, raw, "all");
  add_report_options(*ab, options, raw);
  add_size_option(*ab, options, "60000");

  auto* baseline_update = add_baseline_command(app, options, kRunHelp);
  add_count_options(*baseline_update, raw);
  std::string checked_run;
  auto* check = add_check_command(app, options, checked_run, kRunHelp);
  add_count_options(*check, raw);
  add_report_options(*check, options, raw);
  add_size_option(*check, options, "60000");
  add_run_options(*check, options, 1);

  auto* confirm = add_confirm_command(app, options, old_run, new_run, kRunHelp);
  add_judging_options(*confirm, options, raw, "counts");
  add_report_options(*confirm, options, raw);
  add_size_option(*confirm, options, "60000");
  add_run_options(*confirm, options, 2);

  auto* runs = app.add_subcommand("runs", "Which runs a file holds, the newest first")->footer(kRunsFooter);
  runs->add_option("RUN", options.runs, kRunHelp)->required();
  add_output_options(*runs, raw);

  auto* log = app.add_subcommand("log", "A test's history over runs and commits, with its steps")->footer(kLogFooter);
  log->add_option("TEST", options.test, "Its name, or a part that only one test has")->required()->check(not_empty());
  log->add_option("RUN", options.runs, kRunHelp)->required();
  log->add_option("--threshold", options.threshold, "Change of a time in percent that matters (3)");
  add_count_options(*log, raw);
  add_output_options(*log, raw);

  auto* doctor = app.add_subcommand("doctor", "Whether this machine can measure")->footer(kDoctorFooter);
  doctor->add_option("BINARY", options.binary, "A test or benchmark linked with syscost");

  try {
    app.parse(std::vector<std::string>(own_args.rbegin(), own_args.rend()));
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, fitted_help(app.help()), kExitOk};
  } catch (const CLI::CallForVersion&) {
    return {std::nullopt, app.version() + '\n', kExitOk};
  } catch (const CLI::ParseError& error) {
    if (args.empty()) return {std::nullopt, fitted_help(app.help()), kExitBadInput};
    auto chosen = app.get_subcommands();
    return usage_error(
        fmt::format("{}\nTry `bench {}--help`.", error.what(), chosen.empty() ? "" : chosen.front()->get_name() + " "));
  }
  if (summary->parsed()) options.command = Command::summary;
  if (show->parsed()) {
    options.command = Command::show;
    options.runs = {run};
    // --test says which tests: what stands behind RUN is then a SYSCALL.
    if (!options.tests.empty() && !options.test.empty()) {
      if (!options.syscall.empty()) return usage_error("show takes a TEST or --test, not both");
      options.syscall = std::exchange(options.test, "");
    }
    if (!options.test.empty() && (!options.sort.empty() || raw.top)) {
      return usage_error("--sort and --top choose among several tests: leave TEST out, or give --test PATTERN");
    }
  }
  if (compare->parsed()) {
    options.command = Command::compare;
    options.runs = {old_run, new_run};
  }
  if (ab->parsed()) {
    options.command = Command::ab;
    if (options.is_counts_only && ab->count("--rounds") == 0) options.rounds = kCountRounds;
  }
  if (baseline_update->parsed()) options.command = Command::baseline_update;
  if (check->parsed()) {
    options.command = Command::check;
    options.runs = {checked_run};
  }
  if (confirm->parsed()) {
    options.command = Command::confirm;
    options.runs = {old_run, new_run};
  }
  if (runs->parsed()) options.command = Command::runs;
  if (log->parsed()) options.command = Command::log;
  if (doctor->parsed()) options.command = Command::doctor;
  return finish(std::move(options), raw);
}

}  // namespace syscost::bench::cli
