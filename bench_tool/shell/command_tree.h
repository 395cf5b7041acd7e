// SPDX-License-Identifier: MIT
//
// A command line as plain data: what a man page or a completion of a shell can be made of, without the option parser.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace syscost::bench::shell {

/// How a shell can complete a value.
enum class Completion { none, words, files, folders };

struct Value {
  std::string name;  ///< FILE; as --help names it.
  Completion completion = Completion::none;
  std::vector<std::string> words;  ///< The choices, for Completion::words.
  bool is_list = false;            ///< Several of the words, with commas between.
};

struct Option {
  std::vector<std::string> names;  ///< -o, --output.
  bool has_value = false;
  Value value;
  bool is_repeatable = false;
  std::string about;
};

struct Positional {
  Value value;
  bool is_required = false;
  bool takes_many = false;
  std::string about;
};

struct Command {
  std::vector<std::string> path;     ///< baseline, update; empty = the program itself.
  std::vector<std::string> aliases;  ///< Other words for the last of the path.
  std::string about;
  std::string footer;  ///< The text that --help prints below the options.
  std::vector<Option> options;
  std::vector<Positional> positionals;
  std::vector<Command> commands;
  std::size_t commands_after_mark = 0;  ///< How many commands of other programs may follow `--`.
};

/// All of bench's command line.
Command command_tree();

/// The path's words with `mark` between.
std::string joined(const std::vector<std::string>& words, const std::string& mark);

/// The commands without commands of their own, in the order of --help.
std::vector<const Command*> leaves(const Command& command);

}  // namespace syscost::bench::shell
