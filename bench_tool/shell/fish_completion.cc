// SPDX-License-Identifier: MIT
//
// fish has one `complete` for each option, with the condition under which it holds.
#include <fmt/format.h>

#include "completions.h"

namespace syscost::bench::shell {
namespace {

/// In single quotes, with a backslash before each backslash and each `'`.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out + "'";
}

/// `-n CONDITION `: true if the line has this command, and none of the commands below it. Empty for a program without
/// commands.
std::string condition(const Command& command) {
  if (command.path.empty() && command.commands.empty()) return "";
  std::string out;
  if (command.path.empty()) {
    out = "__fish_use_subcommand";
  } else {
    out = "__fish_seen_subcommand_from " + command.path.back();
    for (const std::string& alias : command.aliases) out += " " + alias;
    if (command.path.size() > 1) out += "; and __fish_seen_subcommand_from " + command.path.front();
    if (!command.commands.empty()) {
      out += "; and not __fish_seen_subcommand_from";
      for (const Command& below : command.commands) out += " " + below.path.back();
    }
  }
  return " -n " + quoted(out);
}

std::string option_line(const Option& option, const std::string& start) {
  std::string out = start;
  for (const std::string& name : option.names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.has_value) {
    const std::string words = joined(option.value.words, " ");
    switch (option.value.completion) {
      case Completion::words:
        out += " -x -a " +
               quoted(option.value.is_list ? "(__fish_complete_list , 'string split \" \" \"" + words + "\"')" : words);
        break;
      case Completion::files:
        out += " -r -F";
        break;
      case Completion::folders:
        out += " -x -a '(__fish_complete_directories)'";
        break;
      case Completion::none:
        out += " -x";
        break;
    }
  }
  return out + " -d " + quoted(option.about) + "\n";
}

void add_command(const Command& command, const std::string& complete, std::string& out) {
  const std::string start = complete + condition(command);
  for (const Command& below : command.commands) {
    out += start + " -a " + below.path.back() + " -d " + quoted(below.about) + "\n";
  }
  for (const Option& option : command.options) out += option_line(option, start);
  // A command of another program after `--` is a file, too.
  bool takes_files = command.commands_after_mark > 0;
  for (const Positional& positional : command.positionals) {
    takes_files = takes_files || positional.value.completion == Completion::files;
  }
  if (takes_files) out += start + " -F\n";
  for (const Command& below : command.commands) add_command(below, complete, out);
}

}  // namespace

std::string fish_completion(const Program& program) {
  const std::string about = "# fish " + program.about + "\n";
  std::string out;
  if (program.is_bound) {
    out = about + "complete -c " + program.name + " -f\n";
    add_command(program.root, "complete -c " + program.name, out);
    return out;
  }
  // `complete -c my_tests -w NAME` would do, but fish 3.6 does not follow it where the program is named with its
  // folder.
  std::string lines;
  add_command(program.root, "    complete -c $program", lines);
  return about + "#\n# Bind it to your programs in ~/.config/fish/config.fish:\n#   complete_" + program.name +
         " my_tests other_tests\nfunction complete_" + program.name +
         " -d 'Completes the flags of syscost for these programs'\n  for program in $argv\n" + lines + "  end\nend\n";
}

std::string fish_file(const Program& program) {
  return program.is_bound ? "vendor_completions.d/" + program.name + ".fish"
                          : "vendor_functions.d/complete_" + program.name + ".fish";
}

}  // namespace syscost::bench::shell
