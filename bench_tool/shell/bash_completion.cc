// SPDX-License-Identifier: MIT
//
// bash hands a function the words of the line; what stands before the cursor decides. The script needs bash 4 alone,
// and uses the package bash-completion where it is loaded.
#include <fmt/format.h>

#include "completions.h"

namespace syscost::bench::shell {
namespace {

constexpr const char* kBegin = R"sh(# bash completion for bench(1). Made from bench's options by syscost_shell_files.

_bench_words() { # WORDS CURRENT
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_bench_list() { # WORDS CURRENT: several of the words, with commas between
  local before=
  [[ $2 != *,* ]] || before=${2%,*},
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${2##*,}")
}

_bench_files() { # -f or -d, CURRENT
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

_bench() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' after_mark=0 index
  # readline takes --format=md for three words.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case $command:${COMP_WORDS[index]} in
)sh";

constexpr const char* kEnd = R"sh(  esac
}

complete -F _bench bench
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
  if (command.commands_behind > 0) out += "  " + line(pattern(name, {"--"}), "after_mark=$((index + 1))");
}

/// Completes the word after an option that takes a value.
void add_values(const Command& command, std::string& out) {
  for (const Option& option : command.options) {
    if (!option.has_value) continue;
    std::string action = "return";
    const Value& value = option.value;
    if (value.completion == Completion::words) {
      action =
          fmt::format("{} '{}' \"$current\"", value.is_list ? "_bench_list" : "_bench_words", joined(value.words, " "));
    } else if (value.completion != Completion::none) {
      action = fmt::format("_bench_files {} \"$current\"", value.completion == Completion::files ? "-f" : "-d");
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
  std::string action = fmt::format("_bench_words '{}' \"$current\"", words);
  bool takes_files = false;
  for (const Positional& positional : command.positionals) {
    takes_files = takes_files || positional.value.completion == Completion::files;
  }
  if (takes_files) {
    action = fmt::format("if [[ $current == -* ]]; then {}; else _bench_files -f \"$current\"; fi", action);
  }
  out += line(pattern, action);
  for (const Command& below : command.commands) add_words(below, out);
}

}  // namespace

std::string bash_completion(const Command& root) {
  std::string out = kBegin;
  add_commands(root, out);
  out += R"sh(    esac
  done
  if ((after_mark > 0)); then
    if declare -F _command_offset >/dev/null; then
      _command_offset "$after_mark"
    elif ((COMP_CWORD == after_mark)); then
      mapfile -t COMPREPLY < <(compgen -c -- "$current")
    else
      _bench_files -f "$current"
    fi
    return
  fi
  case $command:$previous in
)sh";
  add_values(root, out);
  out += "  esac\n  case $command in\n";
  add_words(root, out);
  return out + kEnd;
}

}  // namespace syscost::bench::shell
