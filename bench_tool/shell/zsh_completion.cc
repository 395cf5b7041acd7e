// SPDX-License-Identifier: MIT
//
// zsh has one function for each command; its _arguments takes a description of each option.
#include <fmt/format.h>

#include <algorithm>

#include "completions.h"

namespace syscost::bench::shell {
namespace {

/// In single quotes, where `'` is '\''.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Escapes the characters that _arguments would read as marks.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// `:FILE:_files`.
std::string value_text(const Value& value) {
  std::string action = " ";
  switch (value.completion) {
    case Completion::words:
      action = value.is_list ? "_sequence compadd - " + escaped(joined(value.words, " "))
                             : "(" + joined(value.words, " ") + ")";
      break;
    case Completion::files:
      action = "_files";
      break;
    case Completion::folders:
      action = "_files -/";
      break;
    case Completion::none:
      break;
  }
  return ":" + escaped(value.name) + ":" + action;
}

std::string option_lines(const Option& option) {
  std::string out;
  for (const std::string& name : option.names) {
    std::string spec = option.is_repeatable ? "*" : "(" + joined(option.names, " ") + ")";
    // An option takes its value after `=` or as the next word.
    spec += name + (option.has_value && name.starts_with("--") ? "=" : "") + "[" + escaped(option.about) + "]";
    if (option.has_value) spec += value_text(option.value);
    out += " \\\n    " + quoted(spec);
  }
  return out;
}

std::string function_name(const Program& program, const Command& command) {
  std::string name = "_" + program.name;
  for (const std::string& word : command.path) name += "_" + word;
  return name;
}

std::string leaf_text(const Command& command) {
  std::string out = "  _arguments -S";
  for (const Option& option : command.options) out += option_lines(option);
  for (const Positional& positional : command.positionals) {
    const std::string kind = positional.takes_many ? "*" : positional.is_required ? "" : ":";
    out += " \\\n    " + quoted(kind + value_text(positional.value));
  }
  return out + "\n";
}

/// A command that has commands.
std::string branch_text(const Program& program, const Command& command) {
  std::string out = "  local state line\n  typeset -A opt_args\n  _arguments -C -S";
  for (const Option& option : command.options) out += option_lines(option);
  out += " \\\n    '1: :->command' '*:: :->arguments'\n";
  out += "  case $state in\n    command)\n      local -a commands=(";
  std::string cases;
  for (const Command& below : command.commands) {
    const std::string& name = below.path.back();
    out += "\n        " + quoted(name + ":" + below.about);
    std::string names = name;
    for (const std::string& alias : below.aliases) names += " | " + alias;
    cases += fmt::format("        {}) {} ;;\n", names, function_name(program, below));
  }
  out += "\n      )\n      _describe -t commands command commands\n      ;;\n";
  return out + "    arguments)\n      case $words[1] in\n" + cases + "      esac\n      ;;\n  esac\n";
}

/// A command of another program follows `--`.
std::string after_mark_text() {
  return "  local -i mark=${words[(i)--]}\n"
         "  if ((mark < CURRENT)); then\n"
         "    shift $mark words\n"
         "    ((CURRENT -= mark))\n"
         "    _normal\n"
         "    return\n"
         "  fi\n";
}

std::string functions(const Program& program, const Command& command) {
  std::string out;
  for (const Command& below : command.commands) out += functions(program, below);
  return out + function_name(program, command) + "() {\n" + (command.commands_after_mark > 0 ? after_mark_text() : "") +
         (command.commands.empty() ? leaf_text(command) : branch_text(program, command)) + "}\n\n";
}

}  // namespace

std::string zsh_completion(const Program& program) {
  std::string out = (program.is_bound ? "#compdef " + program.name : "#autoload") + "\n# zsh " + program.about + "\n";
  const std::string function = function_name(program, program.root);
  if (!program.is_bound) {
    out += "#\n# Bind it to your programs in ~/.zshrc, after compinit:\n#   compdef " + function +
           " my_tests other_tests\n#   compdef " + function + " -P '*_test'\n";
  }
  return out + "\n" + functions(program, program.root) + function + " \"$@\"\n";
}

}  // namespace syscost::bench::shell
