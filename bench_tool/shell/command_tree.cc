// SPDX-License-Identifier: MIT
#include "command_tree.h"

#include <CLI/CLI.hpp>

#include "cli/grammar.h"
#include "commands/commands.h"

namespace syscost::bench::shell {
namespace {

Value value_of(const CLI::Option& option, const cli::Grammar& grammar) {
  const std::string type = option.get_type_name();
  Value value;
  value.words = grammar.words_of(option);
  value.name = type.substr(0, type.find_first_of(" :"));
  value.is_list = option.get_delimiter() != '\0';
  if (const auto later = grammar.later_words.find(&option); later != grammar.later_words.end()) {
    value.is_list = later->second.is_list;
  }
  if (!value.words.empty()) {
    value.completion = Completion::words;
    if (value.name == "TEXT") value.name = "WORD";
  } else if (value.name == "FILE") {
    value.completion = Completion::files;
  } else if (value.name == "DIR") {
    value.completion = Completion::folders;
  } else if (value.name == "FLOAT" || value.name == "UINT") {
    value.name = "N";
  }
  return value;
}

Command command_of(const CLI::App& app, const cli::Grammar& grammar, std::vector<std::string> path) {
  Command command;
  command.aliases = app.get_aliases();
  command.about = app.get_description();
  command.footer = app.get_footer();
  if (!path.empty())
    command.commands_after_mark = cli::find_command(grammar.commands, path.front())->commands_after_mark;
  for (const CLI::Option* option : app.get_options()) {
    const std::string label = option->get_name(true);
    if (option->get_positional()) {
      Value value = value_of(*option, grammar);
      value.name = label;
      // TEST and SYSCALL are names in a file; all others are files.
      if (label != "TEST" && label != "SYSCALL") value.completion = Completion::files;
      command.positionals.push_back(
          {std::move(value), option->get_required(), option->get_expected_max() > 1, option->get_description()});
      continue;
    }
    Option entry;
    for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
    entry.about = option->get_description();
    entry.has_value = option->get_items_expected_max() != 0;
    if (entry.has_value) entry.value = value_of(*option, grammar);
    entry.is_repeatable = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    command.options.push_back(std::move(entry));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    std::vector<std::string> longer = path;
    longer.push_back(below->get_name());
    command.commands.push_back(command_of(*below, grammar, std::move(longer)));
  }
  command.path = std::move(path);
  return command;
}

}  // namespace

Command command_tree() {
  const cli::Grammar grammar(commands::kAll);
  return command_of(grammar.app, grammar, {});
}

std::string joined(const std::vector<std::string>& words, const std::string& mark) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : mark) + word;
  return text;
}

std::vector<const Command*> leaves(const Command& command) {
  if (command.commands.empty()) return {&command};
  std::vector<const Command*> found;
  for (const Command& below : command.commands) {
    const std::vector<const Command*> more = leaves(below);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace syscost::bench::shell
