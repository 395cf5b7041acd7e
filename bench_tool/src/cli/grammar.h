// SPDX-License-Identifier: MIT
//
// The grammar of the command line: commands and options as the option parser has them.
//
// It is apart from the parsing, because --help, the man pages and the completions of shells are made from it, too
// (bench_tool/shell). So an option is written in one place: of one command in its NAME_command.cc, of several in
// arguments.h.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/parse.h"

namespace syscost::bench::cli {

/// The words of an option; a list takes several, with commas between.
struct LaterWords {
  std::vector<std::string> words;
  bool is_list = false;
};

struct Grammar {
  explicit Grammar(Commands all);
  // The parser writes into the members.
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  Options options;
  Raw raw;
  std::string run;      ///< The RUN of commands that take one; the OLD of compare.
  std::string new_run;  ///< The NEW of compare.

  const Commands commands;
  CLI::App app;
  struct Line {
    const Command* command;
    const CLI::App* app;  ///< Where the parser says whether it was typed.
  };
  std::vector<Line> lines;

  /// The words that an option takes, if they are checked after the parser (parse.cc).
  std::map<const CLI::Option*, LaterWords> later_words;

  /// The words that an option takes; empty if it takes other values.
  std::vector<std::string> words_of(const CLI::Option& option) const;
  /// The text that `bench` alone prints: the names of the commands, on one screen.
  std::string commands_by_group() const;
};

/// `help` with no line over 80 columns, but for words that are longer, because the option parser breaks no lines:
/// descriptions go on below where they begin, and paragraphs are filled anew.
std::string fitted_help(const std::string& help);

}  // namespace syscost::bench::cli
