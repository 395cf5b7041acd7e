// SPDX-License-Identifier: MIT
#include "cli/grammar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cli/arguments.h"
#include "cli/footers.h"
#include "cli/parse.h"
#include "session/options/option_table.h"
#include "syscost/schema.h"

namespace syscost::bench::cli {
namespace {

/// The commands in the order in which most users need them.
const std::vector<std::pair<const char*, std::vector<std::string>>> kGroups = {
    {"Measure", {"run", "ab", "watch", "faults", "doctor"}},
    {"Look", {"summary", "show", "trace", "findings", "groups", "scale", "report"}},
    {"Compare", {"compare", "log", "runs"}},
    {"Gate", {"baseline", "check"}},
    {"Hand over", {"export"}}};

void add_color_option(CLI::App& app, Raw& raw) {
  app.add_option("--color", raw.color, "auto (default; a terminal, and NO_COLOR is not set), always or never")
      ->check(CLI::IsMember(kColors));
  app.add_option("--width", raw.width, "Columns of text; 0: as wide as needed (default: the terminal's; 0 elsewhere)")
      ->type_name("N");
}

/// Which tests, in which order, and how many of them.
void add_selection_options(CLI::App& app, Grammar& grammar, const std::vector<std::string>& keys) {
  add_test_option(app, grammar.options);
  auto* sort = app.add_option("--sort", grammar.options.sort,
                              fmt::format("Order of the tests: {} (worst)", fmt::join(keys, ", ")));
  grammar.later_words[sort->type_name("KEY")] = {keys, false};
  app.add_option("--top", grammar.raw.top,
                 "At most N tests; 0: all (default: as many as the terminal has room for; elsewhere all)")
      ->type_name("N");
}

void add_output_options(CLI::App& app, Raw& raw) {
  app.add_option("--format", raw.format, "text (default), md, csv or json")->check(CLI::IsMember(kFormats));
  add_color_option(app, raw);
}

void add_locations_option(CLI::App& app, Options& options) {
  app.add_option("--locations", options.locations,
                 "For junit, sarif and github: files and lines of tests, written by TESTS --gtest_list_tests "
                 "--gtest_output=json:FILE; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(not_empty());
}

/// Adds the options of the commands that judge.
void add_report_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--format", raw.format, "text (default), md, csv, json, junit, sarif or github")
      ->check(CLI::IsMember(kFormats) | CLI::IsMember(kReports));
  app.add_option("--output", raw.outputs, "Also write the result into a file: md=summary.md; may be repeated")
      ->type_name("FORMAT=FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_locations_option(app, options);
  add_color_option(app, raw);
}

/// Adds the option of commands with Markdown that grows with the number of tests.
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
  app.add_option("--near-abs", raw.near_abs, "Tolerance in calls (default 0)");
  app.add_option("--near-rel", raw.near_rel, "Tolerance in percent (default 0)");
  add_repeatable(app, "--tolerate", raw.tolerances, "SELECTOR=N",
                 "Tolerance for some syscalls, in calls (read=3) or percent (%file=5%); may be repeated");
  add_repeatable(app, "--volatile", raw.volatiles, "SELECTOR",
                 "Show changes of these syscalls and do not gate them, as for class %volatile; may be repeated");
  app.add_flag("--gate-waits", raw.gates_waits,
               "A wait that no run of OLD made (poll, sleep, ...) fails the test; beside other threads, once enough "
               "runs have it");
}

CLI::Option* add_accept_option(CLI::App& app, Options& options) {
  return app
      .add_option("--accept-from", options.accept_from,
                  "Commit messages (- is standard input): each line `Syscost-Accept: TEST[: WHAT] -- REASON` accepts a "
                  "change")
      ->type_name("FILE")
      ->check(not_empty());
}

CLI::Option* add_config_option(CLI::App& app, Options& options, const char* help) {
  return app.add_option("--config", options.config, fmt::format("{} ({}, if it exists)", help, kBudgetsFile))
      ->type_name("FILE")
      ->check(not_empty());
}

void add_allow_option(CLI::App& app, Raw& raw) {
  app.add_option("--allow", raw.allowed,
                 "Tests that do not fail the gate: missing, failed or skipped in NEW; retried: failed, and passed in a "
                 "later process")
      ->type_name("WORD,...")
      ->delimiter(',')
      ->check(CLI::IsMember({"missing", "failed", "skipped", "retried"}));
}

/// Adds the options that compare and ab share.
void add_judging_options(CLI::App& app, Grammar& grammar, const char* gate) {
  Options& options = grammar.options;
  Raw& raw = grammar.raw;
  app.add_flag("--all", options.all, "Show unchanged tests too (csv and json always do)");
  add_repeatable(app, "--pair", raw.pairs, "OLD=NEW", "Compare test OLD with test NEW; may be repeated");
  auto* gates = app.add_option(
      "--gate", raw.gate,
      fmt::format("What causes exit code 1: counts, time (= wall,cpu), wall, cpu, all or none ({})", gate));
  LaterWords& words = grammar.later_words[gates];
  words.is_list = true;
  for (const auto& [word, meaning] : kGates) words.words.emplace_back(word);
  add_allow_option(app, raw);
  app.add_option("--threshold", options.threshold, "Change of a time in percent that matters (3)");
  app.add_flag("--strict", options.is_strict, "Exit 3 if any test has no verdict, not only if none has");
  add_config_option(app, options, "Read `volatile`, `tolerate` and `accept` from this file, as check does");
  add_accept_option(app, options);
  add_count_options(app, raw);
}

void add_folder_option(CLI::App& app, Options& options) {
  app.add_flag_callback(
      "--recursive", [&options] { options.folders = csv::Folders::recursive; },
      "Read the folders below RUN, too: one run of many machines, shards or Bazel targets");
}

void add_run_options(CLI::App& app, Options& options, int most_ids) {
  add_folder_option(app, options);
  auto* run = app.add_option(
      "--run", options.run_ids,
      most_ids == 1 ? "Read this run instead of the newest: its run_id, newest~1, label:TEXT or commit:TEXT"
                    : "Read this run instead of the newest: its run_id, newest~1, label:TEXT or "
                      "commit:TEXT; given twice: one for OLD, one for NEW");
  run->type_name("ID")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--all-runs", options.all_runs, "Pool all runs of each file")->excludes(run);
}

/// For --help, the manual page and completions; syscost-run parses these options. They are the options of test programs
/// without their prefix, and two more.
void add_measuring_options(CLI::App& app, Raw& raw) {
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

/// An option that may be repeated takes one value each time. Else it would take the words after it, too, up to the
/// next option: a RUN that may be missing, for one.
void take_one_value_each(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    if (option->nonpositional() && option->get_expected_max() == 1) option->allow_extra_args(false);
  }
  for (CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    take_one_value_each(*command);
  }
}

}  // namespace

Grammar::Grammar() : app("bench reads the CSVs of syscost: the syscalls of each test, and what changed", "bench") {
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("bench {}, reads CSVs of schema version {}", SYSCOST_VERSION, schema::kSchemaVersion));
  app.footer(kMainFooter);

  run_command =
      app.add_subcommand("run", "Run a command, and measure its tests or the whole of it")->footer(kRunFooter);
  add_measuring_options(*run_command, raw);

  watch = app.add_subcommand("watch", "The intervals of a command, and what was unusual in them")->footer(kWatchFooter);
  watch->add_option("RUN", options.runs, kRunHelp)->required()->expected(1);
  watch->add_flag("--all", options.all, "Show all that was unusual (20)");
  add_color_option(*watch, raw);
  add_run_options(*watch, options, 1);

  summary = app.add_subcommand("summary", "The syscalls of each test")->footer(kSummaryFooter);
  summary->add_option("RUN", options.runs, kRunHelp)->required();
  auto* details = summary->add_flag("--details", options.has_details, "Print the table of every test");
  summary->add_flag("--stats-extended", options.has_extended,
                    "Print statistics over all tests: latencies of each syscall, tests far above the "
                    "others, syscalls that go together");
  summary
      ->add_flag("--where", options.has_where,
                 "Print the lines of the program that make the calls, of all tests together; RUN needs --syscost_where")
      ->excludes(details);
  add_selection_options(*summary, *this, kSummaryKeys);
  add_output_options(*summary, raw);
  add_size_option(*summary, options, "1000000");
  add_run_options(*summary, options, 1);

  show = app.add_subcommand("show", "Latency histograms and numbers of one test")->alias("hist");
  show->footer(kShowFooter);
  show->add_option("RUN", run, kRunHelp)->required();
  show->add_option("TEST", options.test,
                   "Its name, or a part that only one test has; of a stamp file a part of the launches' names");
  show->add_option("SYSCALL", options.syscall, "Only these: names, %classes, /regex/, !negations, with commas between");
  add_selection_options(*show, *this, kSummaryKeys);
  auto* fine = show->add_flag("--fine", options.is_fine, "Full resolution: 8 rows per power of two");
  show->add_flag("--where", options.has_where,
                 "Print the lines of the program that make the calls; RUN needs --syscost_where")
      ->excludes(fine);
  show->add_option("--svg", options.svg,
                   "Write a picture to FILE: of one launch of a stamp file, of folded stacks, or of --where")
      ->type_name("FILE")
      ->check(not_empty());
  add_output_options(*show, raw);
  add_run_options(*show, options, 1);

  trace = add_trace_command(app, options);
  add_output_options(*trace, raw);

  compare = app.add_subcommand("compare", "What changed between two runs")->footer(kCompareFooter);
  compare->add_option("OLD", old_run, kRunHelp)->required();
  compare->add_option("NEW", new_run, "The same, for the run to judge")->required();
  add_side_command(*compare, "--old", options.old_command, "OLD");
  add_side_command(*compare, "--new", options.new_command, "NEW");
  add_run_budget(*compare, options);
  add_selection_options(*compare, *this, kCompareKeys);
  add_judging_options(*compare, *this, "counts");
  add_report_options(*compare, options, raw);
  add_size_option(*compare, options, "60000");
  add_run_options(*compare, options, 2);

  ab = app.add_subcommand("ab", "Run two commands in turns and compare them")->footer(kAbFooter);
  ab->add_option("--rounds", options.rounds, "Runs of each before the first verdict (10)");
  ab->add_option("--budget", options.budget_s, "Time limit in seconds (60); one round always runs")
      ->type_name("SECONDS");
  ab->add_flag("--counts", options.is_counts_only,
               fmt::format("Compare counts only: {} rounds; times are not judged", kCountRounds));
  ab->add_flag("--whole", options.has_whole,
               "Also compare the times of the whole commands; they may then be any programs");
  ab->add_option("--keep", options.keep, "Keep the CSVs of all runs in this new folder")
      ->type_name("DIR")
      ->check(not_empty());
  add_selection_options(*ab, *this, kCompareKeys);
  add_judging_options(*ab, *this, "all");
  add_report_options(*ab, options, raw);
  add_size_option(*ab, options, "60000");

  baseline_update = add_baseline_command(app, options, kRunHelp);
  add_count_options(*baseline_update, raw);
  add_folder_option(*baseline_update, options);
  check = add_check_command(app, options, checked_run, kRunHelp);
  add_selection_options(*check, *this, kCompareKeys);
  add_allow_option(*check, raw);
  add_accept_option(*check, options);
  add_count_options(*check, raw);
  add_report_options(*check, options, raw);
  add_size_option(*check, options, "60000");
  add_run_options(*check, options, 1);

  runs = app.add_subcommand("runs", "List the runs of a file, the newest first")->footer(kRunsFooter);
  runs->add_option("RUN", options.runs, kRunHelp)->required();
  add_folder_option(*runs, options);
  add_output_options(*runs, raw);

  log = app.add_subcommand("log", "The history of runs: which changes entered and left, or the steps of one test")
            ->footer(kLogFooter);
  log->add_option("TEST", options.test, "Its name, or a part that only one test has; without: the causes of all tests")
      ->check(not_empty());
  log->add_option("RUN", options.runs, kRunHelp);
  add_folder_option(*log, options);
  log->add_option("--threshold", options.threshold, "Change of a time in percent that matters (3)");
  add_config_option(*log, options, "Read `volatile` and `tolerate` from this file, as compare does");
  add_count_options(*log, raw);
  add_output_options(*log, raw);

  scale =
      app.add_subcommand("scale", "How counts and times grow with the sizes in names of tests")->footer(kScaleFooter);
  scale->add_option("RUN", options.runs, kRunHelp)->required();
  scale->add_flag("--label", options.scales_by_label,
                  "Sizes are those in the labels of runs (--syscost_label size=4096); reads all runs of all files");
  add_test_option(*scale, options);
  add_output_options(*scale, raw);
  add_size_option(*scale, options, "1000000");
  add_run_options(*scale, options, 1);

  findings = app.add_subcommand("findings", "What tests do that costs more than it has to, and what to do about it")
                 ->footer(kFindingsFooter);
  findings->add_option("RUN", run, kRunHelp);
  findings->add_option("TEST", options.test, "Its name, or a part of names");
  add_test_option(*findings, options);
  add_repeatable(*findings, "--ignore", options.findings.ignored, "RULE", "Leave this rule out; may be repeated");
  add_repeatable(*findings, "--fail-on", options.findings.fail_on, "RULE",
                 "Exit code 1 if this rule has a finding or a note, or any rule (`any`) a finding; may be repeated");
  findings->add_flag("--notes", options.findings.has_notes,
                     "Print notes, too: costs that the data does not prove to be faults");
  findings->add_flag("--rules", options.findings.lists_rules, "Print what each rule looks for, and what it needs");
  findings
      ->add_option("--artifacts", options.findings.artifacts,
                   "Folder with traces of the run (syscost_artifacts beside the CSV)")
      ->type_name("FOLDER")
      ->check(not_empty());
  findings
      ->add_option("--top", raw.top,
                   "At most N lines with findings of text and Markdown, and N with notes; 0: all (20)")
      ->type_name("N");
  findings->add_option("--format", raw.format, "text (default), md, csv, json, sarif or github")
      ->check(CLI::IsMember(kFormats) | CLI::IsMember(std::vector<std::string>{"sarif", "github"}));
  add_locations_option(*findings, options);
  add_color_option(*findings, raw);
  add_size_option(*findings, options, "1000000");
  add_run_options(*findings, options, 1);

  groups = app.add_subcommand("groups", "Kinds of tests: which behave alike, and what a fixture costs")
               ->footer(kGroupsFooter);
  groups->add_option("RUN", options.runs, kRunHelp)->required();
  groups->add_flag("--all", options.all, "Name every test of each group");
  add_test_option(*groups, options);
  add_output_options(*groups, raw);
  add_size_option(*groups, options, "1000000");
  add_run_options(*groups, options, 1);

  faults = add_faults_command(app, options);
  faults->add_option("--top", raw.top, "At most N failures of text and Markdown are named; 0: all (20)")
      ->type_name("N");
  faults->add_option("--format", raw.format, "text (default), md, csv, json or github")
      ->check(CLI::IsMember(kFormats) | CLI::IsMember(std::vector<std::string>{"github"}));
  add_locations_option(*faults, options);
  add_color_option(*faults, raw);
  add_size_option(*faults, options, "1000000");

  export_command = add_export_command(app, options, kRunHelp);
  add_run_options(*export_command, options, 1);

  report = add_report_command(app, options, kRunHelp);
  for (CLI::Option* const option :
       {add_config_option(*report, options, "For --compare: read `volatile`, `tolerate` and `accept` from this file"),
        add_accept_option(*report, options)}) {
    option->needs("--compare");
  }
  add_run_options(*report, options, 1);

  doctor = app.add_subcommand("doctor", "Show whether this machine can measure")->footer(kDoctorFooter);
  doctor->add_option("BINARY", options.binary, "A test or benchmark linked with syscost");

  for (const auto& [title, commands] : kGroups) {
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (std::find(commands.begin(), commands.end(), command->get_name()) != commands.end()) command->group(title);
    }
  }
  take_one_value_each(app);
}

std::string Grammar::commands_by_group() const {
  std::string text = app.get_description() + "\nUsage: bench COMMAND [ARGUMENT]...\n\n";
  for (const auto& [title, commands] : kGroups) text += fmt::format("  {:<11}{}\n", title, fmt::join(commands, ", "));
  return text + "\n`bench help` says what each does, with examples; `bench COMMAND --help` says more.\n";
}

std::vector<std::string> Grammar::words_of(const CLI::Option& option) const {
  if (const auto later = later_words.find(&option); later != later_words.end()) return later->second.words;
  // The parser shows what it checks as `TEXT:({csv,json}) OR ({junit,sarif})`.
  std::vector<std::string> words;
  bool is_inside = false;
  for (const char c : option.get_type_name()) {
    if (c == '{' || (c == ',' && is_inside)) {
      is_inside = true;
      words.emplace_back();
    } else if (c == '}') {
      is_inside = false;
    } else if (is_inside) {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace syscost::bench::cli
