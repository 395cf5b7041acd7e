// SPDX-License-Identifier: MIT
//
// Options that several commands have, and the checks of single values.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/grammar.h"
#include "cli/options.h"
#include "cli/parse.h"

namespace syscost::bench::cli {

inline constexpr const char* kRunHelp =
    "A CSV written by --syscost_csv, packed by gzip or not, or a folder (its *.csv and *.csv.gz; with --recursive "
    "those of the folders below, too)";

// Checks have messages of our own: CLI11 words its own differently in each version. Defaults stand in the descriptions,
// because CLI11 2.4 shows its own in another way than 2.3.

/// Refuses "", which is what a variable of a script that was not set leaves.
CLI::Validator not_empty();

CLI::Validator at_least_1000();

/// A whole number from 1 to `most`, which is 1 000 000 000 or less.
CLI::Validator at_least_1(std::size_t most);

/// Adds an option that takes a list of words with commas between, and may be given several times. Adds the words of
/// each use to `values`. An empty word is an error.
inline void add_list(CLI::App& command, const char* name, std::vector<std::string>& values, const char* type,
                     const char* help) {
  command.add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(not_empty());
}
/// The same of an option that takes one value, with commas as part of it.
void add_repeatable(CLI::App& app, const char* name, std::vector<std::string>& values, const char* type,
                    const char* help);

// --- which runs, and which of their tests ---

/// --recursive
void add_folder_option(CLI::App& app, Options& options);
/// --recursive, --run and --all-runs.
void add_run_options(CLI::App& app, Options& options, std::size_t most_ids = 1);
/// --test
void add_test_option(CLI::App& command, Options& options);
/// --test, --sort and --top. `keys`: the words of --sort.
void add_selection_options(CLI::App& app, Grammar& grammar, const std::vector<std::string>& keys);

// --- what the output looks like ---

/// --color and --width.
void add_color_option(CLI::App& app, Raw& raw);
/// --format, --color and --width.
void add_output_options(CLI::App& app, Raw& raw);
/// The same of the commands that judge, which have formats for CI; --output and --locations, too.
void add_report_options(CLI::App& app, Options& options, Raw& raw);
void add_locations_option(CLI::App& app, Options& options);
/// --max-bytes, for Markdown that grows with the number of tests. `most`: the default, as --help names it.
void add_size_option(CLI::App& app, Options& options, const char* most);

// --- how a comparison judges ---

/// Which counts may vary, and how far.
void add_count_options(CLI::App& app, Raw& raw);
CLI::Option* add_accept_option(CLI::App& app, Options& options);
CLI::Option* add_config_option(CLI::App& app, Options& options, const char* help);
/// --allow
void add_allow_option(CLI::App& app, Raw& raw);
/// Those of compare and ab. `gate`: the default of --gate, as --help names it; the command's `read` sets it.
void add_judging_options(CLI::App& app, Grammar& grammar, const char* gate);
/// --allow-failed and --allow-lost: tests that are written into a baseline without counts.
void add_uncounted_options(CLI::App& app, Options& options);
/// The command that measures a side of `compare` again: one line for a shell.
void add_side_command(CLI::App& app, const std::string& name, std::vector<std::string>& command, const char* side);
/// --budget of further runs.
void add_run_budget(CLI::App& app, Options& options);
/// Returns what is wrong with it as a sentence, or "".
std::string run_budget_fault(const Options& options);

}  // namespace syscost::bench::cli
