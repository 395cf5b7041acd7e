// SPDX-License-Identifier: MIT
#include "cli/mistakes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/parse.h"
#include "model/choice.h"

namespace syscost::bench::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// One or two letters are near to many words.
bool is_long_enough(std::string_view word) {
  return word.size() > 2;
}

/// True for what no one would call a test.
bool looks_like_path(std::string_view word) {
  return word.find('/') != std::string_view::npos || word.ends_with(".csv") || word.ends_with(".gz") ||
         word.ends_with(".json");
}

/// False for a folder without a CSV: a test may have its name.
bool may_be_run(const std::string& word) {
  std::error_code ignored;
  if (looks_like_path(word) || !fs::is_directory(word, ignored)) return true;
  return std::any_of(fs::directory_iterator(word, ignored), fs::directory_iterator(),
                     [](const auto& entry) { return looks_like_path(entry.path().filename().string()); });
}

std::string quoted(std::string word) {
  for (std::size_t at = 0; (at = word.find('\'', at)) != std::string::npos; at += 4) word.replace(at, 1, "'\\''");
  return '\'' + word + '\'';
}

/// `a`, `a and b`, `a, b and c`.
std::string list_of(const Words& words, std::string_view last = "and") {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} {} {}", fmt::join(words.begin(), words.end() - 1, ", "), last, words.back());
}

/// The command that was typed, as the parser has it, and its name: `check`, `baseline update`; "" for none.
struct Chosen {
  const CLI::App* app;
  std::string name;
  const Command* command;  ///< Null for none.

  explicit Chosen(const Grammar& grammar) : app(&grammar.app) {
    while (!app->get_subcommands().empty()) {
      app = app->get_subcommands().front();
      name += (name.empty() ? "" : " ") + app->get_name();
    }
    command = find_command(grammar.commands, std::string_view(name).substr(0, name.find(' ')));
  }
  std::size_t most_after_mark() const { return command == nullptr ? 0 : command->commands_after_mark; }
};

Words names_of(const CLI::Option& option) {
  Words names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

bool has_name(const CLI::Option& option, const std::string& name) {
  const Words names = names_of(option);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, bool positional) {
  return app.get_options([positional](const CLI::Option* option) { return option->get_positional() == positional; });
}

/// The commands with an option of this name.
Words commands_with(const CLI::App& app, const std::string& name, const std::string& path) {
  Words found;
  for (const CLI::Option* option : options_of(app, false)) {
    if (has_name(*option, name) && !path.empty()) found.push_back(path);
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    const Words more = commands_with(*below, name, (path.empty() ? "" : path + " ") + below->get_name());
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

/// `compare OLD NEW`, `log TEST RUN...`.
std::string synopsis(const Chosen& chosen) {
  std::string text = "bench " + chosen.name;
  for (const CLI::Option* one : options_of(*chosen.app, true)) {
    const std::string word = one->get_name(true) + (one->get_expected_max() > 1 ? "..." : "");
    text += ' ' + (one->get_required() ? word : '[' + word + ']');
  }
  return chosen.command == nullptr ? text : text + std::string(chosen.command->after_mark);
}

/// `--csv FILE`: an option and what it takes, by the name that was typed.
std::string with_value(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : options_of(app, false)) {
    const std::string type = option->get_type_name();
    if (has_name(*option, name) && option->get_items_expected_max() > 0)
      return name + ' ' + type.substr(0, type.find(':'));
  }
  return name;
}

std::string unknown_option(const Grammar& grammar, const Chosen& chosen, const Words& args, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const Needless& one : chosen.command == nullptr ? std::span<const Needless>() : chosen.command->needless) {
    if (one.option == name) return std::string(one.why);
  }
  const std::string beginning = fmt::format("{} has no option {}", chosen.name.empty() ? "bench" : chosen.name, name);
  const std::string bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  Words names;
  for (const CLI::Option* option : options_of(*chosen.app, false)) {
    if (has_name(*option, name)) {
      const bool is_before = std::find(args.begin(), args.end(), word) < std::find(args.begin(), args.end(), "--");
      return fmt::format("write {} {}", name,
                         is_before ? "after the command: bench " + chosen.name + ' ' + name : "before `--`");
    }
    const Words words = grammar.words_of(*option);
    if (std::find(words.begin(), words.end(), bare) != words.end()) {
      return fmt::format("{}; did you mean {} {}?", beginning, names_of(*option).front(), bare);
    }
    for (const std::string& own : option->get_lnames()) names.push_back("--" + own);
  }
  // `bench run` has the flags of test programs without their prefix.
  constexpr std::string_view kPrefix = "syscost_";
  const std::string elsewhere = bare.starts_with(kPrefix) ? "--" + bare.substr(kPrefix.size()) : name;
  const Words having = commands_with(grammar.app, elsewhere, "");
  if (having == Words{"run"}) {
    return fmt::format("{}; it is an option of a run: bench run {} -- ./my_tests", beginning,
                       with_value(*grammar.app.get_subcommand("run"), elsewhere));
  }
  if (!having.empty()) {
    return fmt::format("{}; {} {} it", beginning, list_of(having), having.size() == 1 ? "has" : "have");
  }
  return beginning + (is_long_enough(bare) ? model::or_rather(name, names) : "");
}

/// The words that no option and no argument took, in the order in which they were typed.
Words words_left(const Grammar& grammar, const Words& args) {
  Words left = grammar.app.remaining(true);
  const auto place = [&](const std::string& word) { return std::find(args.begin(), args.end(), word); };
  std::stable_sort(left.begin(), left.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return left;
}

/// The line with `--` before the words that are left: the command of another program.
std::string with_mark(const Chosen& chosen, Words args, const Words& left) {
  const auto mark = std::find(args.begin(), args.end(), "--");
  Words command = left;
  if (mark != args.end()) {
    command.insert(command.end(), mark + 1, args.end());
    args.erase(mark, args.end());
  } else if (chosen.most_after_mark() == 2 && left.size() == 2) {
    command.insert(command.begin() + 1, "--");
  } else if (chosen.most_after_mark() == 2 && left.size() > 2) {
    return synopsis(chosen);
  }
  for (const std::string& word : left) args.erase(std::find(args.begin(), args.end(), word));
  args.emplace_back("--");
  args.insert(args.end(), command.begin(), command.end());
  return "bench " + typed(args);
}

std::string unexpected(const Grammar& grammar, const Chosen& chosen, const Words& args, const Words& left) {
  if (left.front().starts_with('-')) return unknown_option(grammar, chosen, args, left.front());
  if (chosen.most_after_mark() > 0 && options_of(*chosen.app, true).empty()) {
    return fmt::format("write the command after `--`: {}", with_mark(chosen, args, left));
  }
  // An option behind the first of them may say more.
  for (const std::string& word : left) {
    if (word.starts_with('-')) return unknown_option(grammar, chosen, args, word);
  }
  return fmt::format("{} {} too many: {}", list_of(left), left.size() == 1 ? "is one word" : "are words",
                     synopsis(chosen));
}

bool has_commands(const CLI::App& app) {
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty();
}

/// `bench baseline out.csv`: the one command that baseline has is missing.
std::string missing_command(const Chosen& chosen, Words left) {
  const std::string only = chosen.app->get_subcommands([](const CLI::App*) { return true; }).front()->get_name();
  if (!left.empty() && !model::did_you_mean(left.front(), {only}).empty()) left.erase(left.begin());
  return fmt::format("{0} has one command, {1}: bench {0} {1} {2}", chosen.name, only,
                     left.empty() ? "RUN..." : typed(left));
}

/// Arguments are missing.
std::string missing(const Chosen& chosen) {
  const CLI::App& app = *chosen.app;
  Words lacking;
  Words given;
  for (const CLI::Option* one : options_of(app, true)) {
    if (one->count() > 0) {
      given.insert(given.end(), one->results().begin(), one->results().end());
    } else if (one->get_required()) {
      lacking.push_back(one->get_name(true));
    }
  }
  if (lacking.empty()) return {};
  return fmt::format("{} {} missing{}: {}", list_of(lacking), lacking.size() == 1 ? "is" : "are",
                     given.empty() ? "" : fmt::format(", and only {} was given", list_of(given)), synopsis(chosen));
}

/// A value that an option does not take; "" if the message of the parser says more.
std::string bad_value(const Grammar& grammar, const Chosen& chosen, const CLI::ParseError& error) {
  const std::string_view said = error.what();
  const CLI::Option* option = nullptr;
  std::string name;
  for (const CLI::Option* one : options_of(*chosen.app, false)) {
    for (const std::string& its : names_of(*one)) {
      if (its.size() > name.size() && said.find(its) != std::string_view::npos) option = one, name = its;
    }
  }
  if (option == nullptr) return {};
  const Words words = grammar.words_of(*option);
  const std::string type = option->get_type_name();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string value = words.empty() ? type.substr(0, type.find(':')) : list_of(words, "or");
    return fmt::format("{0} needs {1}: {0} {2}", name, option->get_items_expected_min() > 1 ? "two values" : "a value",
                       value == "FLOAT" || value == "UINT" ? "N" : value);
  }
  const Words& values = option->results();
  if (values.empty()) return {};
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return fmt::format("{} takes a number, not \"{}\"", name, values.back());
  }
  const auto bad = std::find_if(values.begin(), values.end(), [&](const std::string& value) {
    return std::find(words.begin(), words.end(), value) == words.end();
  });
  if (words.empty() || bad == values.end()) return {};
  return fmt::format("{} takes {}, not \"{}\"{}", name, list_of(words, "or"), *bad,
                     is_long_enough(*bad) ? model::or_rather(*bad, words) : "");
}

}  // namespace

std::string typed(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 ||
             std::string_view("-_./=:,+%@").find(static_cast<char>(c)) != std::string_view::npos;
    });
    line += (line.empty() ? "" : " ") + (is_plain ? word : quoted(word));
  }
  return line;
}

std::string no_such_command(Commands commands, const std::string& word) {
  Words all;
  for (const Command* const one : commands) all.emplace_back(one->name);
  all.emplace_back("help");
  std::string text = fmt::format("no command `{}`; there are {}", word, fmt::join(all, ", "));
  if (exists(word)) return text + fmt::format("; did you mean bench summary {}?", typed({word}));
  for (const Command* const one : commands) {
    if (!one->alias.empty()) all.emplace_back(one->alias);
  }
  return text + model::or_rather(word, all);
}

std::vector<std::string> with_help_last(std::vector<std::string> args) {
  if (args.empty() || args.front() != "help") return args;
  args.erase(args.begin());
  args.emplace_back("--help");
  return args;
}

std::string no_such_run(const std::string& run, const CLI::App& command) {
  if (run.empty() || looks_like_path(run) || exists(run)) return {};
  return fmt::format("there is no file or folder {}; the RUN comes first: bench {} RUN [TEST]", run,
                     command.get_name());
}

std::string no_test_but(const std::string& word, const std::string& file, const CLI::App& command) {
  const bool is_run = word.ends_with(".csv") || word.ends_with(".csv.gz") || fs::is_directory(word);
  if (!file.empty() || !is_run || word.ends_with("sched.csv") || !exists(word)) return {};
  return fmt::format("{0} is the RUN, and TEST is missing: bench {1} TEST {0}; `bench summary {0}` names the tests",
                     typed({word}), command.get_name());
}

void put_run_first(std::string& run, const std::vector<std::string*>& others) {
  if (run.empty() || looks_like_path(run) || exists(run)) return;
  const auto found = std::find_if(others.begin(), others.end(),
                                  [](const std::string* word) { return !word->empty() && exists(*word); });
  if (found == others.end()) return;
  std::string moved = std::exchange(run, **found);
  for (auto one = others.begin(); one <= found; ++one) std::swap(moved, **one);
}

void put_runs_last(std::string& test, std::vector<std::string>& runs) {
  if (runs.empty() && !test.empty()) runs.push_back(std::exchange(test, ""));
  if (test.empty() || !exists(test)) return;
  const auto is_test = [](const std::string& word) { return !looks_like_path(word) && !exists(word); };
  const auto found = std::find_if(runs.begin(), runs.end(), is_test);
  if (found == runs.end()) {
    if (may_be_run(test)) runs.insert(runs.begin(), std::exchange(test, ""));
    return;
  }
  if (std::find_if(std::next(found), runs.end(), is_test) != runs.end()) return;
  std::string moved = std::move(*found);
  runs.erase(found);
  runs.insert(runs.begin(), std::exchange(test, std::move(moved)));
}

std::string no_run_but(const std::vector<std::string>& runs) {
  if (runs.size() > 1 || (runs.size() == 1 && (looks_like_path(runs.front()) || exists(runs.front())))) return {};
  return fmt::format("RUN is missing{}: bench log [TEST] RUN...\nTry `bench log --help`.",
                     runs.empty() ? "" : fmt::format(", and no file or folder has the name {}", typed(runs)));
}

std::string mistake_in(const Grammar& grammar, const std::vector<std::string>& args, const CLI::ParseError& error) {
  const Chosen chosen(grammar);
  const Words left = words_left(grammar, args);
  std::string text;
  if (has_commands(*chosen.app) && !chosen.name.empty()) {
    text = missing_command(chosen, left);
  } else if (!left.empty() && left.front().starts_with('-')) {
    text = unknown_option(grammar, chosen, args, left.front());
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    text = missing(chosen);
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !left.empty()) {
    text = unexpected(grammar, chosen, args, left);
  } else {
    text = bad_value(grammar, chosen, error);
  }
  return fmt::format("{}\nTry `bench {}--help`.", text.empty() ? error.what() : text,
                     chosen.name.empty() ? "" : chosen.name + " ");
}

}  // namespace syscost::bench::cli
