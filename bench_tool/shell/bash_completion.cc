// SPDX-License-Identifier: MIT
//
// bash hands a function the words of the line; what stands before the cursor decides. The script needs bash 4 alone,
// and uses the package bash-completion where it is loaded.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "completions.h"

namespace syscost::bench::shell {
namespace {

// FUNCTION stands for the name of the function.
constexpr const char* kHelpers = R"sh(
FUNCTION_words() { # WORDS CURRENT
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

FUNCTION_list() { # WORDS CURRENT: several of the words, with commas between
  local before=
  [[ $2 != *,* ]] || before=${2%,*},
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${2##*,}")
}

FUNCTION_files() { # -f or -d, CURRENT
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

FUNCTION() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=''
  # readline takes --format=md for three words.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
)sh";

/// Finds the command, and a `--` that another program's command follows.
constexpr const char* kCommandsBegin = R"sh(  local after_mark=0 index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case $command:${COMP_WORDS[index]} in
)sh";

constexpr const char* kCommandsEnd = R"sh(    esac
  done
  if ((after_mark > 0)); then
    if declare -F _command_offset >/dev/null; then
      _command_offset "$after_mark"
    elif ((COMP_CWORD == after_mark)); then
      mapfile -t COMPREPLY < <(compgen -c -- "$current")
    else
      FUNCTION_files -f "$current"
    fi
    return
  fi
)sh";

constexpr const char* kHowToBind = R"sh(#
# Bind it to your programs in ~/.bashrc, after `source` of this file:
#   complete -o default -F FUNCTION my_tests other_tests
)sh";

/// `a | b`: patterns of a case.
std::string pattern(const std::string& command, const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " | ") + fmt::format("'{}:{}'", command, word);
  return out;
}

std::string line(const std::string& patterns, const std::string& action) {
  return "    " + patterns + ") " + action + " ;;\n";
}

void add_commands(const Command& command, std::string& out) {
  const std::string name = joined(command.path, " ");
  for (const Command& below : command.commands) {
    std::vector<std::string> words = below.aliases;
    words.insert(words.begin(), below.path.back());
    out += "  " + line(pattern(name, words), fmt::format("command='{}'", joined(below.path, " ")));
    add_commands(below, out);
  }
  if (command.commands_after_mark > 0) out += "  " + line(pattern(name, {"--"}), "after_mark=$((index + 1))");
}

/// Completes the word after an option that takes a value.
void add_values(const Command& command, std::string& out) {
  for (const Option& option : command.options) {
    if (!option.has_value) continue;
    std::string action = "return";
    const Value& value = option.value;
    if (value.completion == Completion::words) {
      action = fmt::format("FUNCTION_{} '{}' \"$current\"", value.is_list ? "list" : "words", joined(value.words, " "));
    } else if (value.completion != Completion::none) {
      action = fmt::format("FUNCTION_files {} \"$current\"", value.completion == Completion::files ? "-f" : "-d");
    }
    if (action != "return") action += "; return";
    out += line(pattern(joined(command.path, " "), option.names), action);
  }
  for (const Command& below : command.commands) add_values(below, out);
}

void add_words(const Command& command, std::string& out) {
  std::string words;
  for (const Option& option : command.options) words += (words.empty() ? "" : " ") + joined(option.names, " ");
  for (const Command& below : command.commands) words += " " + below.path.back();
  const std::string pattern = "'" + joined(command.path, " ") + "'";
  std::string action = fmt::format("FUNCTION_words '{}' \"$current\"", words);
  bool takes_files = false;
  for (const Positional& positional : command.positionals) {
    takes_files = takes_files || positional.value.completion == Completion::files;
  }
  if (takes_files) {
    action = fmt::format("if [[ $current == -* ]]; then {}; else FUNCTION_files -f \"$current\"; fi", action);
  }
  out += line(pattern, action);
  for (const Command& below : command.commands) add_words(below, out);
}

std::string with_function(std::string text, const std::string& function) {
  constexpr std::string_view kMark = "FUNCTION";
  for (std::size_t at = 0; (at = text.find(kMark, at)) != std::string::npos; at += function.size()) {
    text.replace(at, kMark.size(), function);
  }
  return text;
}

}  // namespace

std::string bash_completion(const Program& program) {
  std::string out = "# bash " + program.about + "\n";
  if (!program.is_bound) out += kHowToBind;
  out += kHelpers;
  if (!program.root.commands.empty()) {
    out += kCommandsBegin;
    add_commands(program.root, out);
    out += kCommandsEnd;
  }
  out += "  case $command:$previous in\n";
  add_values(program.root, out);
  out += "  esac\n  case $command in\n";
  add_words(program.root, out);
  out += "  esac\n}\n";
  if (program.is_bound) out += "\ncomplete -F FUNCTION " + program.name + "\n";
  return with_function(std::move(out), "_" + program.name);
}

}  // namespace syscost::bench::shell
