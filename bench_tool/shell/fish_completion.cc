// SPDX-License-Identifier: MIT
//
// fish has one `complete` for each option, with the condition under which it holds.
#include <fmt/format.h>

#include "completions.h"

namespace syscost::bench::shell {
namespace {

/// In single quotes, where a backslash and `'` have one before them.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out + "'";
}

/// Is this command the one that the line has? A command that has commands: and none of these.
std::string condition(const Command& command) {
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
  return quoted(out);
}

std::string option_line(const Option& option, const std::string& when) {
  std::string out = "complete -c bench -n " + when;
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

void add_command(const Command& command, std::string& out) {
  const std::string when = condition(command);
  for (const Command& below : command.commands) {
    out += "complete -c bench -n " + when + " -a " + below.path.back() + " -d " + quoted(below.about) + "\n";
  }
  for (const Option& option : command.options) out += option_line(option, when);
  // A command of another program after `--` is a file, too.
  bool takes_files = command.commands_behind > 0;
  for (const Positional& positional : command.positionals) {
    takes_files = takes_files || positional.value.completion == Completion::files;
  }
  if (takes_files) out += "complete -c bench -n " + when + " -F\n";
  for (const Command& below : command.commands) add_command(below, out);
}

}  // namespace

std::string fish_completion(const Command& root) {
  std::string out =
      "# fish completion for bench(1). Made from bench's options by syscost_shell_files.\ncomplete -c bench -f\n";
  add_command(root, out);
  return out;
}

}  // namespace syscost::bench::shell
