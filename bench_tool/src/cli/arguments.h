// SPDX-License-Identifier: MIT
//
// arguments: the command lines of commands with many options, and the checks of single values, as grammar.cc puts them
// together. Those of `faults` and `trace` have files of their own.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/options.h"

namespace syscost::bench::cli {

// Checks have messages of our own: CLI11 words its own differently in each version.

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

/// Adds --test, which many commands have.
void add_test_option(CLI::App& command, Options& options);

/// Adds `baseline` or `check`, with the options that they alone have. `run`: check's RUN.
CLI::App* add_baseline_command(CLI::App& app, Options& options, const char* run_help);
CLI::App* add_check_command(CLI::App& app, Options& options, std::string& run, const char* run_help);

/// The command that measures a side of `compare` again: one line for a shell.
void add_side_command(CLI::App& app, const std::string& name, std::vector<std::string>& command, const char* side);
void add_run_budget(CLI::App& app, Options& options);

/// Returns the fault of the options of `check`, and of those of further runs, as a sentence, or "".
std::string check_fault(const Options& options);

/// Adds `export`, with the options that it alone has.
CLI::App* add_export_command(CLI::App& app, Options& options, const char* run_help);

/// Returns the fault of the options of `export` as a sentence, or "".
std::string export_fault(const Options& options);

/// Adds `report`, with the options that it alone has.
CLI::App* add_report_command(CLI::App& app, Options& options, const char* run_help);

/// Where the page of this RUN goes without --output: `out.html` for `results/out.csv.gz`, in the current folder.
std::string page_name_for(const std::string& run);

/// Adds `faults`, with the options that it alone has.
CLI::App* add_faults_command(CLI::App& app, Options& options);

/// Returns the fault of the options of `faults` as a sentence, or "".
std::string faults_fault(const Options& options);

/// Adds `trace`, with the options that it alone has.
CLI::App* add_trace_command(CLI::App& app, Options& options);

/// Makes numbers of texts. Returns the fault of the options of `trace` as a sentence, or "".
std::string read_trace_options(Options& options);

}  // namespace syscost::bench::cli
