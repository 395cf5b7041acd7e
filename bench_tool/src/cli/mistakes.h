// SPDX-License-Identifier: MIT
//
// The mistakes in a command line, and what to type instead.
//
// The parser says which word it did not expect, or which it lacks. The cause is often elsewhere: there is no `--`
// before a command, another command has the option, or a word of an option was typed as an option. All commands get
// their messages here, so an option or a command that is added has them, too.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/grammar.h"

namespace syscost::bench::cli {

/// The message for `error`, by which grammar.app refused `args`. `args`: as typed, without the program's name.
std::string mistake_in(const Grammar& grammar, const std::vector<std::string>& args, const CLI::ParseError& error);

/// The words of a command as a shell reads them.
std::string typed(const std::vector<std::string>& words);

/// The message for a first word that is no command.
std::string no_such_command(Commands commands, const std::string& word);

/// `bench help COMMAND` as `bench COMMAND --help`; other arguments as they are.
std::vector<std::string> with_help_last(std::vector<std::string> args);

/// Commands differ in whether RUN comes before TEST. If the word at RUN's place is no file, and one of the others is,
/// that one is the RUN; the others keep their order.
void put_run_first(std::string& run, const std::vector<std::string*>& others);
/// The mistake if there is no file for RUN all the same, and the word is none of a file; or "".
std::string no_such_run(const std::string& run, const CLI::App& command);
/// The mistake if the RUN of `TEST [FILE]` is the only word; or "".
std::string no_test_but(const std::string& word, const std::string& file, const CLI::App& command);
/// The same as put_run_first for `[TEST] RUN...`. If all are files, or TEST is the only word, it is a RUN.
void put_runs_last(std::string& test, std::vector<std::string>& runs);
/// The mistake if there is no RUN, or if the only one is no file and no word of one; or "".
std::string no_run_but(const std::vector<std::string>& runs);

}  // namespace syscost::bench::cli
