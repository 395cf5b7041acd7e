// SPDX-License-Identifier: MIT
#include "cli/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "cli/help.h"
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

Parsed parse(const std::vector<std::string>& typed) {
  const std::vector<std::string> args = with_help_last(typed);
  if (!args.empty() && !args[0].starts_with('-') && !is_command(args[0])) return usage_error(no_such_command(args[0]));
  // syscost-run parses these options: they are those of a test program.
  if (!args.empty() && args[0] == "run" && !asks_for_help(args)) {
    Options run;
    run.command = Command::run;
    run.run_arguments.assign(args.begin() + 1, args.end());
    return {run, {}, kExitOk};
  }
  Grammar grammar;
  Options& options = grammar.options;
  const Raw& raw = grammar.raw;
  const std::vector<std::string> own_args = split_commands(args, options);
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
  if (grammar.watch->parsed()) options.command = Command::watch;
  if (grammar.summary->parsed()) options.command = Command::summary;
  if (grammar.show->parsed()) {
    options.command = Command::show;
    put_run_first(grammar.run, {&options.test, &options.syscall});
    if (const std::string fault = no_such_run(grammar.run, *grammar.show); !fault.empty()) return usage_error(fault);
    options.runs = {grammar.run};
    // --test chooses the tests, so the word after RUN is a SYSCALL.
    if (!options.tests.empty() && !options.test.empty()) {
      if (!options.syscall.empty()) return usage_error("show takes a TEST or --test, not both");
      options.syscall = std::exchange(options.test, "");
    }
    if (!options.test.empty() && (!options.sort.empty() || raw.top) && !options.has_where) {
      return usage_error("--sort and --top select among several tests: leave TEST out, or give --test PATTERN");
    }
  }
  if (grammar.trace->parsed()) {
    options.command = Command::trace;
    TraceOptions& own = options.trace;
    put_run_first(own.from, {&own.test});
    if (const std::string fault = no_test_but(own.test, own.from, *grammar.trace); !fault.empty()) {
      return usage_error(fault);
    }
  }
  if (grammar.compare->parsed()) {
    options.command = Command::compare;
    options.runs = {grammar.old_run, grammar.new_run};
  }
  if (grammar.ab->parsed()) {
    options.command = Command::ab;
    if (options.is_counts_only && grammar.ab->count("--rounds") == 0) options.rounds = kCountRounds;
  }
  if (grammar.baseline_update->parsed()) options.command = Command::baseline_update;
  if (grammar.check->parsed()) {
    options.command = Command::check;
    if (!grammar.checked_run.empty() || grammar.check->count("RUN") > 0) options.runs = {grammar.checked_run};
  }
  if (grammar.runs->parsed()) options.command = Command::runs;
  if (grammar.log->parsed()) {
    options.command = Command::log;
    put_runs_last(options.test, options.runs);
    if (const std::string fault = no_run_but(options.runs); !fault.empty()) return usage_error(fault);
  }
  if (grammar.scale->parsed()) options.command = Command::scale;
  if (grammar.findings->parsed()) {
    options.command = Command::findings;
    put_run_first(grammar.run, {&options.test});
    if (const std::string fault = no_such_run(grammar.run, *grammar.findings); !fault.empty())
      return usage_error(fault);
    if (!grammar.run.empty()) options.runs = {grammar.run};
    if (options.runs.empty() && !options.findings.lists_rules) {
      return usage_error("findings needs a RUN, or --rules\nTry `bench findings --help`.");
    }
  }
  if (grammar.groups->parsed()) options.command = Command::groups;
  if (grammar.faults->parsed()) options.command = Command::faults;
  if (grammar.export_command->parsed()) options.command = Command::export_run;
  if (grammar.report->parsed()) {
    options.command = Command::report;
    if (options.runs.empty() && !options.page.compare.empty()) options.runs = {options.page.compare.back()};
    if (options.runs.empty())
      return usage_error("report needs a RUN, or --compare OLD NEW\nTry `bench report --help`.");
    if (options.page.output.empty()) options.page.output = page_name_for(options.runs.back());
  }
  if (grammar.doctor->parsed()) options.command = Command::doctor;
  return finish(std::move(options), raw);
}

namespace {

/// More rounds would make too many files for one folder.
constexpr std::size_t kMostRounds = 100'000;
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
std::string read_selection(Options& options, const Raw& raw) {
  // With --where, --sort orders lines, unless it is to choose among tests.
  const bool sorts_lines = options.has_where && (options.command == Command::summary || !options.test.empty());
  const std::vector<std::string>& keys = sorts_lines ? kSiteKeys : options.judges() ? kCompareKeys : kSummaryKeys;
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

Parsed finish(Options options, const Raw& raw) {
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
  if (const std::string fault = read_selection(options, raw); !fault.empty()) return usage_error(fault);
  if (options.run_ids.size() > (options.command == Command::compare ? 2U : 1U)) {
    return usage_error("too many --run: one for each RUN");
  }
  if (options.has_extended && (options.has_details || options.has_where || !options.sort.empty())) {
    return usage_error("--stats-extended is about all tests: leave out --details, --where and --sort");
  }
  if (const std::string fault = check_fault(options); !fault.empty()) return usage_error(fault);
  if (const std::string fault = export_fault(options); !fault.empty()) return usage_error(fault);
  if (const std::string fault = faults_fault(options); !fault.empty()) return usage_error(fault);
  if (const std::string fault = read_trace_options(options); !fault.empty()) return usage_error(fault);
  if (options.command == Command::ab) options.gate = kGates.at(options.is_counts_only ? "counts" : "all");
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
  if (options.is_counts_only && (options.gate.times() || options.has_whole)) {
    return usage_error("--counts judges no time: leave out --gate and --whole, or --counts");
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
  if (options.command == Command::ab) {
    if (options.rounds < 1 || options.rounds > kMostRounds) {
      return usage_error(fmt::format("--rounds takes a number from 1 to {}", kMostRounds));
    }
    if (!std::isfinite(options.budget_s) || options.budget_s < 0) {
      return usage_error("--budget takes a number of seconds, 0 or more");
    }
    if (options.a.empty()) {
      return usage_error("ab needs a command after `--`: bench ab -- A [ARG]... -- B [ARG]...");
    }
    for (const std::vector<std::string>& command : {options.a, options.b}) {
      if (!command.empty() && command[0].empty()) return usage_error("a command of ab after `--` is empty");
    }
  }
  for (const std::string& id : options.run_ids) {
    if (id.empty()) return usage_error("--run takes a run_id, not \"\"; leave it out for the newest run");
  }
  for (const std::string& run : options.runs) {
    if (run.empty()) return usage_error("a RUN is a file or a folder, not \"\"");
    if (run == "-") return usage_error("a RUN is a file or a folder, not -; for standard input give /dev/stdin");
  }
  return {std::move(options), "", kExitOk};
}

std::size_t commands_after_mark(std::string_view subcommand) {
  if (subcommand == "ab") return 2;
  return subcommand == "check" || subcommand == "faults" ? 1 : 0;
}

std::vector<std::string> split_commands(const std::vector<std::string>& args, Options& options) {
  const auto first = std::find(args.begin(), args.end(), "--");
  const std::size_t most = args.empty() ? 0 : commands_after_mark(args[0]);
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
