// SPDX-License-Identifier: MIT
#include "cli/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/grammar.h"
#include "cli/mistakes.h"
#include "csv/text.h"
#include "model/choice.h"

namespace syscost::bench::cli {
namespace {

/// True when the options before the command ask for help.
bool asks_for_help(const std::vector<std::string>& args) {
  const auto end = std::find(args.begin(), args.end(), "--");
  return std::any_of(args.begin(), end, [](const std::string& arg) { return arg == "--help" || arg == "-h"; });
}

}  // namespace

Parsed parse(const std::vector<std::string>& typed, Commands commands) {
  const std::vector<std::string> args = with_help_last(typed);
  const Command* const first = args.empty() ? nullptr : find_command(commands, args[0]);
  if (!args.empty() && !args[0].starts_with('-') && first == nullptr) {
    return usage_error(no_such_command(commands, args[0]));
  }
  if (first != nullptr && first->is_read_elsewhere && !asks_for_help(args)) {
    Options unread;
    unread.run_arguments.assign(args.begin() + 1, args.end());
    return {unread, {}, kExitOk, first};
  }
  Grammar grammar(commands);
  Options& options = grammar.options;
  const std::vector<std::string> own_args = split_commands(args, first, options);
  try {
    grammar.app.parse(std::vector<std::string>(own_args.rbegin(), own_args.rend()));
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, fitted_help(grammar.app.help()), kExitOk};
  } catch (const CLI::CallForVersion&) {
    return {std::nullopt, grammar.app.version() + '\n', kExitOk};
  } catch (const CLI::ParseError& error) {
    if (args.empty()) return {std::nullopt, grammar.commands_by_group(), kExitBadInput};
    return usage_error(mistake_in(grammar, args, error));
  }
  const auto line = std::find_if(grammar.lines.begin(), grammar.lines.end(),
                                 [](const Grammar::Line& one) { return one.app->parsed(); });
  const Command& command = *line->command;
  if (command.read != nullptr) {
    if (const std::string fault = command.read(grammar, *line->app); !fault.empty()) return usage_error(fault);
  }
  return finish(std::move(options), grammar.raw, command);
}

namespace {

/// A narrower table cannot be read.
constexpr std::size_t kNarrowest = 40;

/// `counts,cpu`; nullopt if a word is unknown, which is then in `unknown`.
std::optional<Gate> gate_of(std::string_view words, std::string& unknown) {
  Gate gate;
  for (bool is_last = false; !is_last;) {
    const std::size_t end = std::min(words.find(','), words.size());
    const auto word = kGates.find(words.substr(0, end));
    if (word == kGates.end()) {
      unknown = words.substr(0, end);
      return std::nullopt;
    }
    gate.counts = gate.counts || word->second.counts;
    gate.wall = gate.wall || word->second.wall;
    gate.cpu = gate.cpu || word->second.cpu;
    is_last = end == words.size();
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return gate;
}

/// Returns what is wrong with it.
std::optional<std::string> set_policy(Options& options, const Raw& raw) {
  judge::Tolerance tolerance;
  for (const std::optional<double>& near : {raw.near_abs, raw.near_rel}) {
    if (near && (!std::isfinite(*near) || *near < 0)) return "--near-abs and --near-rel take a number, 0 or more";
  }
  if (raw.near_abs) tolerance.abs = *raw.near_abs;
  if (raw.near_rel) tolerance.rel = *raw.near_rel / 100;
  options.counts = judge::CountPolicy(tolerance);
  if (raw.gates_waits) options.counts.gate_waits();
  for (const std::string& selector : raw.volatiles) {
    if (const auto fault = options.counts.add_volatile(selector)) return "--volatile: " + *fault;
  }
  for (const std::string& text : raw.tolerances) {
    if (const auto fault = options.counts.add_tolerance(text)) return "--tolerate: " + *fault;
  }
  return std::nullopt;
}

/// Reads --sort, --top and --width. Returns the fault as a sentence, or "".
std::string read_selection(Options& options, const Raw& raw, bool judges) {
  const bool sorts_lines = options.sorts_lines;
  const std::vector<std::string>& keys = sorts_lines ? kSiteKeys : judges ? kCompareKeys : kSummaryKeys;
  if (!options.sort.empty() && std::find(keys.begin(), keys.end(), options.sort) == keys.end()) {
    return fmt::format("--sort{} takes {}, not \"{}\"{}", sorts_lines ? " of lines (--where)" : "",
                       fmt::join(keys, ", "), options.sort, model::or_rather(options.sort, keys));
  }
  if (raw.top) {
    options.top = whole_number(*raw.top);
    if (options.top.value_or(0) != 0 && options.report != Report::none) {
      return "--top leaves tests out, and a report for CI holds all of them; leave --top out";
    }
    if (!options.top) return "--top takes a number of tests, 0 for all, not \"" + *raw.top + '"';
  }
  if (raw.width) {
    options.width = whole_number(*raw.width);
    if (!options.width || (*options.width != 0 && *options.width < kNarrowest)) {
      return fmt::format("--width takes 0 or a number of columns from {} on, not \"{}\"", kNarrowest, *raw.width);
    }
  }
  return {};
}

}  // namespace

std::optional<std::size_t> whole_number(const std::string& text) {
  std::size_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && rest == text.data() + text.size() && number <= 1'000'000'000;
  return is_number ? std::optional(number) : std::nullopt;
}

Parsed usage_error(const std::string& message) {
  return {std::nullopt, "bench: " + csv::printable_lines(message) + '\n', kExitBadInput};
}

namespace {

/// False: there is no such format.
bool read_format(const std::string& word, Format& format, Report& report) {
  const auto found = kFormats.find(word);
  const auto of_report = kReports.find(word);
  if (found != kFormats.end()) format = found->second;
  if (of_report != kReports.end()) report = of_report->second;
  return found != kFormats.end() || of_report != kReports.end();
}

}  // namespace

Parsed finish(Options options, const Raw& raw, const Command& command) {
  read_format(raw.format, options.format, options.report);
  for (const std::string& text : raw.outputs) {
    const std::size_t sign = text.find('=');
    Output output;
    if (sign != std::string::npos) output.file = text.substr(sign + 1);
    if (output.file.empty() || !read_format(text.substr(0, sign), output.format, output.report)) {
      return usage_error("--output takes a format and a file, for example md=summary.md, not \"" + text +
                         "\"; the formats are those of --format");
    }
    options.outputs.push_back(std::move(output));
  }
  options.color = kColors.at(raw.color);
  if (const std::string fault = read_selection(options, raw, command.judges); !fault.empty()) return usage_error(fault);
  if (options.run_ids.size() > command.most_run_ids) return usage_error("too many --run: one for each RUN");
  if (raw.gate) {
    std::string unknown;
    const std::optional<Gate> gate = gate_of(*raw.gate, unknown);
    if (!gate) {
      std::vector<std::string> words;
      for (const auto& [word, meaning] : kGates) words.emplace_back(word);
      return usage_error(
          fmt::format("--gate takes counts, time (wall and cpu), wall, cpu, all or none, or several with commas "
                      "between, not \"{}\"{}",
                      *raw.gate, model::or_rather(unknown, words)));
    }
    options.gate = *gate;
  }
  const auto is_allowed = [&](std::string_view word) {
    return std::find(raw.allowed.begin(), raw.allowed.end(), word) != raw.allowed.end();
  };
  options.gate.allows_missing = is_allowed("missing");
  options.gate.allows_failed = is_allowed("failed");
  options.gate.allows_skipped = is_allowed("skipped");
  options.gate.allows_retried = is_allowed("retried");
  for (const std::string& raw_pair : raw.pairs) {
    // Names are paired as they are printed.
    const std::string pair = options.is_printable() ? csv::printable(raw_pair) : raw_pair;
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
      return usage_error("--pair takes OLD=NEW, two test names, not \"" + pair + '"');
    }
    options.pairs.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  if (const std::optional<std::string> fault = set_policy(options, raw)) return usage_error(*fault);
  if (!std::isfinite(options.threshold) || options.threshold < 0) {
    return usage_error("--threshold takes a number, 0 or more");
  }
  if (command.check != nullptr) {
    if (const std::string fault = command.check(options); !fault.empty()) return usage_error(fault);
  }
  for (const std::string& id : options.run_ids) {
    if (id.empty()) return usage_error("--run takes a run_id, not \"\"; leave it out for the newest run");
  }
  for (const std::string& run : options.runs) {
    if (run.empty()) return usage_error("a RUN is a file or a folder, not \"\"");
    if (run == "-") return usage_error("a RUN is a file or a folder, not -; for standard input give /dev/stdin");
  }
  return {std::move(options), "", kExitOk, &command};
}

std::vector<std::string> split_commands(const std::vector<std::string>& args, const Command* command,
                                        Options& options) {
  const auto first = std::find(args.begin(), args.end(), "--");
  const std::size_t most = command == nullptr ? 0 : command->commands_after_mark;
  if (most == 0 || first == args.end()) return args;
  const auto second = most == 1 ? args.end() : std::find(first + 1, args.end(), "--");
  options.a.assign(first + 1, second);
  if (second != args.end()) {
    options.b.assign(second + 1, args.end());
    if (options.b.empty()) options.b = {""};  // refused later: a `--` announces a command
  }
  return {args.begin(), first};
}

}  // namespace syscost::bench::cli
