// SPDX-License-Identifier: MIT
//
// From arguments to Options: the grammar reads them, and this file checks what the grammar cannot.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/options.h"

namespace syscost::bench::cli {

/// Either options, or what to print and the exit code to end with (help: stdout, 0; usage errors: stderr, 2).
struct Parsed {
  std::optional<Options> options;
  std::string message;
  int exit_code = kExitOk;
  const Command* command = nullptr;  ///< The one that the options are for.
};

/// Parses arguments without the program's name.
Parsed parse(const std::vector<std::string>& typed, Commands commands);

inline const std::map<std::string, Format> kFormats = {
    {"text", Format::text}, {"md", Format::md}, {"csv", Format::csv}, {"json", Format::json}};
inline const std::map<std::string, Report> kReports = {
    {"junit", Report::junit}, {"sarif", Report::sarif}, {"github", Report::github}};
inline const std::map<std::string, Color> kColors = {
    {"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}};

inline const std::map<std::string, Gate, std::less<>> kGates = {{"counts", {.counts = true}},
                                                                {"time", {.wall = true, .cpu = true}},
                                                                {"wall", {.wall = true}},
                                                                {"cpu", {.cpu = true}},
                                                                {"all", {.counts = true, .wall = true, .cpu = true}},
                                                                {"none", {}}};

inline const std::vector<std::string> kSummaryKeys = {"worst", "wall",   "kernel", "waits",
                                                      "calls", "errors", "name",   "file"};
/// The orders of lines that --where takes.
inline const std::vector<std::string> kSiteKeys = {"kernel", "calls", "errors", "name"};
inline const std::vector<std::string> kCompareKeys = {"worst", "calls", "wall", "name", "file"};

/// Text of the options that need a second look after CLI11's.
struct Raw {
  std::optional<std::string> gate;  // none: what the command gates by default
  std::vector<std::string> allowed;
  std::vector<std::string> pairs;
  std::optional<double> near_abs;
  std::optional<double> near_rel;
  std::vector<std::string> tolerances;
  std::vector<std::string> volatiles;
  bool gates_waits = false;
  std::string format = "text";
  std::vector<std::string> outputs;
  std::string color = "auto";
  std::optional<std::string> top;
  std::optional<std::string> width;
  // The options of run: another program reads them.
  std::string ignored;
  bool ignored_flag = false;
};

/// Digits alone, at most 1 000 000 000; none where `text` is something else.
std::optional<std::size_t> whole_number(const std::string& text);

Parsed usage_error(const std::string& message);

/// Checks what the parser cannot and fills in the rest.
Parsed finish(Options options, const Raw& raw, const Command& command);

/// Moves the commands of other programs, which follow `--`, out of the arguments. Their options are not ours.
/// `command`: that of bench; null = none was typed.
std::vector<std::string> split_commands(const std::vector<std::string>& args, const Command* command, Options& options);

}  // namespace syscost::bench::cli
