// SPDX-License-Identifier: MIT
//
// The grammar of the command line: commands and options as the option parser has them.
//
// It is apart from the parsing, because --help, the man pages and the completions of shells are made from it, too
// (bench_tool/shell). So an option is written in one place.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/parse.h"

namespace syscost::bench::cli {

/// The words of an option; a list takes several, with commas between.
struct LaterWords {
  std::vector<std::string> words;
  bool is_list = false;
};

struct Grammar {
  Grammar();
  // The parser writes into the members.
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  Options options;
  Raw raw;
  std::string run;  ///< The RUN of show.
  std::string old_run;
  std::string new_run;
  std::string checked_run;

  CLI::App app;
  CLI::App* run_command = nullptr;
  CLI::App* watch = nullptr;
  CLI::App* summary = nullptr;
  CLI::App* show = nullptr;
  CLI::App* trace = nullptr;
  CLI::App* compare = nullptr;
  CLI::App* ab = nullptr;
  CLI::App* baseline_update = nullptr;
  CLI::App* check = nullptr;
  CLI::App* runs = nullptr;
  CLI::App* log = nullptr;
  CLI::App* scale = nullptr;
  CLI::App* findings = nullptr;
  CLI::App* groups = nullptr;
  CLI::App* faults = nullptr;
  CLI::App* export_command = nullptr;
  CLI::App* report = nullptr;
  CLI::App* doctor = nullptr;

  /// The words that an option takes, if they are checked after the parser (parse.cc).
  std::map<const CLI::Option*, LaterWords> later_words;

  /// The words that an option takes; empty if it takes other values.
  std::vector<std::string> words_of(const CLI::Option& option) const;
  /// The text that `bench` alone prints: the names of the commands, on one screen.
  std::string commands_by_group() const;
};

}  // namespace syscost::bench::cli
