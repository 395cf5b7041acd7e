// SPDX-License-Identifier: MIT
#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>
#include <string>

#include "cli/parse.h"

namespace syscost::bench::cli {

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? std::string("it is empty") : std::string(); }, ""};
}

CLI::Validator at_least_1000() {
  return {[](const std::string& text) {
            const std::optional<std::size_t> number = whole_number(text);
            return number && *number >= 1000 ? std::string() : "it is a whole number from 1000 to 1000000000";
          },
          ""};
}

CLI::Validator at_least_1(std::size_t most) {
  return {[most](const std::string& text) {
            const std::optional<std::size_t> number = whole_number(text);
            return number && *number >= 1 && *number <= most ? std::string()
                                                             : "it is a whole number from 1 to " + std::to_string(most);
          },
          ""};
}

void add_test_option(CLI::App& command, Options& options) {
  command
      .add_option("--test,--filter", options.tests,
                  "Only tests that match, in the syntax of --gtest_filter: Log.*:Net.?-*Slow*")
      ->type_name("PATTERN")
      ->check(not_empty());
}

void add_color_option(CLI::App& app, Raw& raw) {
  app.add_option("--color", raw.color, "auto (default; a terminal, and NO_COLOR is not set), always or never")
      ->check(CLI::IsMember(kColors));
  app.add_option("--width", raw.width, "Columns of text; 0: as wide as needed (default: the terminal's; 0 elsewhere)")
      ->type_name("N");
}

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

void add_size_option(CLI::App& app, Options& options, const char* most) {
  app.add_option("--max-bytes", options.max_bytes, fmt::format("Most bytes of --format md, 1000 or more ({})", most))
      ->type_name("N")
      ->check(at_least_1000());
}

void add_repeatable(CLI::App& app, const char* name, std::vector<std::string>& values, const char* type,
                    const char* help) {
  app.add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(not_empty());
}

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

void add_run_options(CLI::App& app, Options& options, std::size_t most_ids) {
  add_folder_option(app, options);
  auto* run = app.add_option(
      "--run", options.run_ids,
      most_ids == 1 ? "Read this run instead of the newest: its run_id, newest~1, label:TEXT or commit:TEXT"
                    : "Read this run instead of the newest: its run_id, newest~1, label:TEXT or "
                      "commit:TEXT; given twice: one for OLD, one for NEW");
  run->type_name("ID")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--all-runs", options.all_runs, "Pool all runs of each file")->excludes(run);
}

void add_side_command(CLI::App& app, const std::string& name, std::vector<std::string>& command, const char* side) {
  app.add_option_function<std::string>(
         name,
         [&command](const std::string& line) {
           command = {"sh", "-c", line};
         },
         std::string("Measures ") + side +
             " again, a line for sh: bench runs it until red and doubtful tests are decided")
      ->type_name("COMMAND")
      ->check(not_empty());
}

void add_run_budget(CLI::App& app, Options& options) {
  app.add_option("--budget", options.run_budget_s, "Seconds for further runs (600); one always runs")
      ->type_name("SECONDS");
}

std::string run_budget_fault(const Options& options) {
  const bool is_number = std::isfinite(options.run_budget_s) && options.run_budget_s >= 0;
  return is_number ? "" : "--budget takes a number of seconds, 0 or more";
}

void add_uncounted_options(CLI::App& app, Options& options) {
  app.add_flag("--allow-failed", options.check.allows_failed,
               "Write a failed test without counts; check does not judge it while it fails");
  app.add_flag("--allow-lost", options.check.allows_lost,
               "Write a test with lost events or missing rows without counts; check does not judge its counts");
}

}  // namespace syscost::bench::cli
