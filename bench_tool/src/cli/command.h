// SPDX-License-Identifier: MIT
//
// Command: all that the command line knows of one command of bench.
//
// Each command has one, in commands/NAME/NAME_command.cc, and commands/commands.h lists them. Parsing, --help, manual
// pages, completions and messages about mistakes are made of that list.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "render/terminal.h"

namespace syscost::bench::cli {

struct Grammar;

/// An option that a command does without, though its sisters have it, and what to type instead.
struct Needless {
  std::string_view option;  ///< `--old`
  std::string_view why;     ///< A sentence.
};

struct Command {
  std::string_view name;    ///< The first word.
  std::string_view group;   ///< The heading over it in `bench help`.
  const char* about;        ///< Its line there.
  const char* footer = "";  ///< The text that its --help prints below the options.
  /// Adds its options to `line`.
  void (*add)(CLI::App& line, Grammar& grammar);
  /// Moves words to their places and sets the command's defaults, before the options that several commands have are
  /// read. Returns what is wrong as a sentence, or "".
  std::string (*read)(Grammar& grammar, const CLI::App& line) = nullptr;
  /// Checks the whole. Returns what is wrong as a sentence, or "".
  std::string (*check)(Options& options) = nullptr;
  /// Does it, and returns the exit code.
  int (*run)(const Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

  /// How many commands of other programs may follow `--`, and how --help writes them.
  std::size_t commands_after_mark = 0;
  std::string_view after_mark = {};
  bool judges = false;             ///< It compares OLD with NEW and has a gate.
  std::size_t most_run_ids = 1;    ///< How often --run may stand.
  bool is_read_elsewhere = false;  ///< Another program reads its line: Options::run_arguments holds it as typed.
  std::string_view alias = {};
  std::span<const Needless> needless = {};
};

/// In the order of --help, the commands of a group together.
using Commands = std::span<const Command* const>;

/// The command of this name; null if there is none.
inline const Command* find_command(Commands commands, std::string_view name) {
  for (const Command* const one : commands) {
    if (!name.empty() && (one->name == name || one->alias == name)) return one;
  }
  return nullptr;
}

}  // namespace syscost::bench::cli
