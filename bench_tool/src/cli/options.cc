// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "cli/check_arguments.h"
#include "cli/help.h"
#include "csv/printable.h"
#include "model/suggestion.h"
#include "syscost/schema.h"

namespace syscost::bench::cli {
namespace {

const char* const kRunHelp = "A CSV written by --syscost_csv, or a folder (its *.csv files, not those of sub-folders)";

const char* const kMainFooter =
    R"(A RUN is a CSV or a folder of CSVs. Of a file that holds several runs the newest counts.
Exit codes: 0 ok, 1 regression, 2 usage, input or I/O, 3 no verdict (with --strict).

Examples:
  my_tests --syscost_csv out.csv            write a CSV
  bench summary out.csv                     what each test asked of the kernel
  bench show out.csv Log.Write write        latency histogram of one syscall in one test
  bench compare main.csv pr.csv             what changed; exit code 1 when a count grew
  bench ab -- main/tests -- pr/tests        runs both in turns: counts and times
  bench baseline update r1.csv r2.csv r3.csv    a file to commit
  bench check pr.csv                        judges a run against it
`bench COMMAND --help` says more.)";

const char* const kSummaryFooter =
    R"(The syscalls of all tests, and one line a test, the worst first. With --details, and of one test always: a table per
test with strace -c's columns, waits apart from work, failing errnos, findings.
Numbers are per repetition: the median when repetitions differ, with [min..max] for counts.

Examples:
  bench summary out.csv
  bench summary out.csv --sort kernel --top 20
  bench summary out.csv --test 'Log.*' --details
  bench summary results/                    every *.csv of the folder
  bench summary out.csv --all-runs          pool all runs of the file, not only the newest
  bench summary out.csv --format json | jq '.tests[].calls')";

const char* const kShowFooter = R"(TEST may be a part of the name when only one test has it.
Without it the only test of RUN is shown.

Examples:
  bench show out.csv Log.Write              every syscall of the test
  bench show out.csv Log.Write write        one of them
  bench show out.csv Log.Write %file,!close a class of them, with an exception
  bench show out.csv Log.Write write --fine full resolution: 8 rows per power of two
  bench show stamps.csv                     what the GPU stamps of each launch say
  bench show stamps.csv sum_tree --svg sum.svg      and a picture of one)";

const char* const kCompareFooter =
    R"(Counts are exact: any growth of a syscall's calls or of a failing errno is a regression, named in the last column.
A test of OLD that is missing, failed, skipped or crashed in NEW fails the gate, too, unless --allow or --gate none.
Syscalls of class %volatile (futex, allocator, ...) and of --volatile are not gated, and alone are shown with --all only. So are calls that only
moved between the tests of a program, which makes as many as before: `moved`.
Counts that vary among repetitions regress when old and new ranges are further apart than --near-abs and --near-rel.
Times, wall and processor (cpu) each, regress when chance does not explain the difference (p < 0.05, adjusted for the
number of tests) and the whole interval of the difference is beyond --threshold. They are shown, and gated with --gate
time (both), wall, cpu or all: repetitions inside one process do not see what two processes differ by. `bench ab` does.
On a busy machine --gate counts,cpu finds more than wall time does.

Examples:
  bench compare main.csv pr.csv             changed tests only; exit code 1 on regression
  bench compare main.csv pr.csv --all       unchanged tests too
  bench compare slow.csv fast.csv --pair Log.Slow=Log.Fast
  bench compare out.csv out.csv --run 17 --run 42     two runs of one file
  bench compare main.json pr.json --gate time         plain Google Benchmark files: times alone
  bench compare main.csv pr.csv --format md >> "$GITHUB_STEP_SUMMARY")";

const char* const kAbFooter =
    R"(bench ab [OPTIONS] -- A [ARG]... [-- B [ARG]...]

Runs A and B in turns (A B, B A, A B, ...), each run a process with a CSV of its own, and compares them as `compare`
does, counts and times; A is OLD and B is NEW. A process is one sample. It runs --rounds of each; while a test's time is
undecided it doubles them. No round begins that would not end within --budget, but for the first. Ctrl-C compares the
rounds that are whole. Without B it runs A against itself: what it reports then is the noise of this machine.
A and B are run without a shell and must be linked with syscost, or be Google Benchmarks (times alone).

Examples:
  bench ab -- build/main/tests -- build/pr/tests
  bench ab --budget 300 --keep ab/ -- main/tests --gtest_filter=Log.* -- pr/tests --gtest_filter=Log.*
  bench ab -- build/tests                   noise: what equal code differs by
  bench ab --gate time -- bare_benchmark -- linked_benchmark     what linking syscost costs: nothing)";

const char* const kRunsFooter =
    R"(--run of the other commands takes a run_id, newest, oldest, newest~1 (the one before the newest), label:TEXT or
commit:TEXT (the newest run with this label, or with a commit that begins so).

Examples:
  bench runs history.csv
  bench summary history.csv --run newest~1
  bench compare history.csv history.csv --run label:main --run newest)";

const char* const kDoctorFooter =
    R"(Runs BINARY --syscost_doctor: which backends work on this machine, why the others do not, and the fix.

Examples:
  bench doctor build/my_tests)";

/// More would be files beyond what a folder is good for.
constexpr std::size_t kMostRounds = 100'000;
/// Below that a table is no table.
constexpr std::size_t kNarrowest = 40;

/// Commands of the design that are not built yet: naming them beats "unexpected argument".
constexpr std::array<std::string_view, 2> kLaterCommands = {"report", "export"};
constexpr std::array<std::string_view, 10> kCommands = {"summary", "show",     "hist",  "runs",    "compare",
                                                        "ab",      "baseline", "check", "confirm", "doctor"};

const std::map<std::string, Format> kFormats = {
    {"text", Format::text}, {"md", Format::md}, {"csv", Format::csv}, {"json", Format::json}};
const std::map<std::string, Report> kReports = {
    {"junit", Report::junit}, {"sarif", Report::sarif}, {"github", Report::github}};
const std::map<std::string, Color> kColors = {
    {"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}};

const std::map<std::string_view, Gate> kGates = {{"counts", {.counts = true}},
                                                 {"time", {.wall = true, .cpu = true}},
                                                 {"wall", {.wall = true}},
                                                 {"cpu", {.cpu = true}},
                                                 {"all", {.counts = true, .wall = true, .cpu = true}},
                                                 {"none", {}}};

/// `counts,cpu`; nullopt where a word is none of them.
std::optional<Gate> gate_of(std::string_view words) {
  Gate gate;
  for (bool is_last = false; !is_last;) {
    const std::size_t end = std::min(words.find(','), words.size());
    const auto word = kGates.find(words.substr(0, end));
    if (word == kGates.end()) return std::nullopt;
    gate.counts = gate.counts || word->second.counts;
    gate.wall = gate.wall || word->second.wall;
    gate.cpu = gate.cpu || word->second.cpu;
    is_last = end == words.size();
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return gate;
}

/// Refuses "", which is what a variable of a script that was not set leaves.
CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? std::string("it is empty") : std::string(); }, ""};
}

/// Text of the options that need a second look after CLI11's.
struct Raw {
  std::optional<std::string> gate;  // none: what the command gates by default
  std::vector<std::string> allowed;
  std::vector<std::string> pairs;
  std::optional<double> near_abs;
  std::optional<double> near_rel;
  std::vector<std::string> tolerances;
  std::vector<std::string> volatiles;
  std::string format = "text";
  std::string color = "auto";
  std::optional<std::string> top;
  std::optional<std::string> width;
};

void add_color_option(CLI::App& app, Raw& raw) {
  app.add_option("--color", raw.color, "auto (default; a terminal, and NO_COLOR is not set), always or never")
      ->check(CLI::IsMember(kColors));
  app.add_option("--width", raw.width, "Columns of text; 0: as wide as it gets (default: the terminal's; 0 elsewhere)")
      ->type_name("N");
}

/// Which tests, in which order, and how many of them.
void add_selection_options(CLI::App& app, Options& options, Raw& raw, std::string_view keys) {
  app.add_option("--test,--filter", options.tests,
                 "Only tests that fit, in the words of --gtest_filter: Log.*:Net.?-*Slow*")
      ->type_name("PATTERN")
      ->check(not_empty());
  app.add_option("--sort", options.sort, fmt::format("Order of the tests: {}", keys))->type_name("KEY");
  app.add_option("--top", raw.top,
                 "So many tests at most; 0: all (default: what a terminal has room for; elsewhere all)")
      ->type_name("N");
}

void add_output_options(CLI::App& app, Raw& raw) {
  app.add_option("--format", raw.format, "text (default), md, csv or json")->check(CLI::IsMember(kFormats));
  add_color_option(app, raw);
}

/// Of compare and ab.
void add_report_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--format", raw.format, "text (default), md, csv, json, junit, sarif or github")
      ->check(CLI::IsMember(kFormats) | CLI::IsMember(kReports));
  app.add_option("--locations", options.locations,
                 "For junit, sarif and github: files and lines of tests, as TESTS --gtest_list_tests "
                 "--gtest_output=json:FILE writes them; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(not_empty());
  add_color_option(app, raw);
}

/// Of the commands with Markdown that grows with the number of tests.
void add_size_option(CLI::App& app, Options& options, const char* most) {
  app.add_option("--max-bytes", options.max_bytes, fmt::format("Most bytes of --format md, 1000 or more ({})", most))
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1000}, std::size_t{1} << 40));
}

// Defaults stand in the descriptions: CLI11 2.4 shows its own in another way than 2.3.

void add_repeatable(CLI::App& app, const char* name, std::vector<std::string>& values, const char* type,
                    const char* help) {
  app.add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// Which counts may vary, and how far.
void add_count_options(CLI::App& app, Raw& raw) {
  app.add_option("--near-abs", raw.near_abs, "Tolerance in calls; without it 1 where counts vary, else 0");
  app.add_option("--near-rel", raw.near_rel, "Tolerance in percent; without it 1 where counts vary, else 0");
  add_repeatable(app, "--tolerate", raw.tolerances, "SELECTOR=N",
                 "Tolerance for some syscalls, in calls (read=3) or percent (%file=5%); may be repeated");
  add_repeatable(app, "--volatile", raw.volatiles, "SELECTOR",
                 "Show these syscalls' changes and do not gate them, as those of class %volatile; may be repeated");
}

/// What compare and ab have in common.
void add_judging_options(CLI::App& app, Options& options, Raw& raw, const char* gate) {
  app.add_flag("--all", options.all, "Show unchanged tests too (csv and json always do)");
  add_repeatable(app, "--pair", raw.pairs, "OLD=NEW", "Compare test OLD with test NEW; may be repeated");
  app.add_option("--gate", raw.gate,
                 fmt::format("What ends in exit code 1: counts, time (= wall,cpu), wall, cpu, all or none ({})", gate));
  app.add_option("--allow", raw.allowed, "Tests that do not fail the gate: missing, failed or skipped in NEW")
      ->type_name("WORD,...")
      ->delimiter(',')
      ->check(CLI::IsMember({"missing", "failed", "skipped"}));
  app.add_option("--threshold", options.threshold, "Change of a time in percent that matters (3)");
  app.add_flag("--strict", options.is_strict, "Exit 3 when a test has no verdict");
  add_count_options(app, raw);
}

void add_run_options(CLI::App& app, Options& options, int most_ids) {
  auto* run = app.add_option(
      "--run", options.run_ids,
      most_ids == 1 ? "Read this run instead of the newest: its run_id, newest~1, label:TEXT or commit:TEXT"
                    : "Read this run instead of the newest: its run_id, newest~1, label:TEXT or "
                      "commit:TEXT; given twice: one for OLD, one for NEW");
  run->type_name("ID")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--all-runs", options.all_runs, "Pool all runs of each file")->excludes(run);
}

const std::vector<std::string> kSummaryKeys = {"worst", "wall", "kernel", "waits", "calls", "errors", "name", "file"};
const std::vector<std::string> kCompareKeys = {"worst", "calls", "wall", "name", "file"};

/// A whole number of few digits; none where `text` is none.
std::optional<std::size_t> whole_number(const std::string& text) {
  std::size_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && rest == text.data() + text.size() && number <= 1'000'000'000;
  return is_number ? std::optional(number) : std::nullopt;
}

Parsed usage_error(const std::string& message) {
  return {std::nullopt, "bench: " + csv::printable_lines(message) + '\n', kExitBadInput};
}

/// Returns what is wrong with it.
std::optional<std::string> set_policy(Options& options, const Raw& raw) {
  stats::Tolerance tolerance;
  for (const std::optional<double>& near : {raw.near_abs, raw.near_rel}) {
    if (near && (!std::isfinite(*near) || *near < 0)) return "--near-abs and --near-rel take a number, 0 or more";
  }
  if (raw.near_abs) tolerance.abs = tolerance.exact_abs = *raw.near_abs;
  if (raw.near_rel) tolerance.rel = tolerance.exact_rel = *raw.near_rel / 100;
  options.counts = stats::CountPolicy(tolerance);
  for (const std::string& selector : raw.volatiles) {
    if (const auto fault = options.counts.add_volatile(selector)) return "--volatile: " + *fault;
  }
  for (const std::string& text : raw.tolerances) {
    if (const auto fault = options.counts.add_tolerance(text)) return "--tolerate: " + *fault;
  }
  return std::nullopt;
}

/// `; did you mean errors?`, or "".
std::string or_rather(const std::string& wanted, const std::vector<std::string>& names) {
  const std::string question = model::did_you_mean(wanted, names);
  return question.empty() ? "" : "; " + question;
}

/// What is wrong with --sort, --top and --width; "" for nothing.
std::string read_selection(Options& options, const Raw& raw) {
  const std::vector<std::string>& keys = options.command == Command::compare ? kCompareKeys : kSummaryKeys;
  if (!options.sort.empty() && std::find(keys.begin(), keys.end(), options.sort) == keys.end()) {
    return fmt::format("--sort takes {}, not \"{}\"{}", fmt::join(keys, ", "), options.sort,
                       or_rather(options.sort, keys));
  }
  if (raw.top) {
    options.top = whole_number(*raw.top);
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

/// Checks what CLI11 cannot and fills in the rest.
Parsed finish(Options options, const Raw& raw) {
  if (const auto report = kReports.find(raw.format); report != kReports.end()) {
    options.report = report->second;
  } else {
    options.format = kFormats.at(raw.format);
  }
  options.color = kColors.at(raw.color);
  if (const std::string fault = read_selection(options, raw); !fault.empty()) return usage_error(fault);
  if (options.run_ids.size() > (options.command == Command::compare || options.command == Command::confirm ? 2U : 1U)) {
    return usage_error("too many --run: one for each RUN");
  }
  if (const std::string fault = check_fault(options); !fault.empty()) return usage_error(fault);
  if (options.command == Command::ab) options.gate = kGates.at("all");
  if (raw.gate) {
    const std::optional<Gate> gate = gate_of(*raw.gate);
    if (!gate) {
      return usage_error(
          "--gate takes counts, time (wall and cpu), wall, cpu, all or none, or several with commas "
          "between, not \"" +
          *raw.gate + '"');
    }
    options.gate = *gate;
  }
  const auto is_allowed = [&](std::string_view word) {
    return std::find(raw.allowed.begin(), raw.allowed.end(), word) != raw.allowed.end();
  };
  options.gate.allows_missing = is_allowed("missing");
  options.gate.allows_failed = is_allowed("failed");
  options.gate.allows_skipped = is_allowed("skipped");
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
      return usage_error("ab needs a command behind `--`: bench ab -- A [ARG]... -- B [ARG]...");
    }
    for (const std::vector<std::string>& command : {options.a, options.b}) {
      if (!command.empty() && command[0].empty()) return usage_error("a command of ab behind `--` is empty");
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

/// Takes the commands of ab, check and confirm, which stand behind `--`, out of the arguments: their options are not
/// ours.
std::vector<std::string> split_commands(const std::vector<std::string>& args, Options& options) {
  const auto first = std::find(args.begin(), args.end(), "--");
  const bool takes_one = !args.empty() && (args[0] == "check" || args[0] == "confirm");
  if (args.empty() || (args[0] != "ab" && !takes_one) || first == args.end()) return args;
  const auto second = takes_one ? args.end() : std::find(first + 1, args.end(), "--");
  options.a.assign(first + 1, second);
  if (second != args.end()) {
    options.b.assign(second + 1, args.end());
    if (options.b.empty()) options.b = {""};  // refused later: a `--` announces a command
  }
  return {args.begin(), first};
}

}  // namespace

Parsed parse(const std::vector<std::string>& args) {
  if (!args.empty() && !args[0].starts_with('-')) {
    if (std::find(kLaterCommands.begin(), kLaterCommands.end(), args[0]) != kLaterCommands.end()) {
      return usage_error(fmt::format("`{}` is not in this version; it has {}", args[0], fmt::join(kCommands, ", ")));
    }
    if (std::find(kCommands.begin(), kCommands.end(), args[0]) == kCommands.end()) {
      return usage_error(fmt::format("no command `{}`; there are {}{}", args[0], fmt::join(kCommands, ", "),
                                     or_rather(args[0], {kCommands.begin(), kCommands.end()})));
    }
  }
  Options options;
  Raw raw;
  const std::vector<std::string> own_args = split_commands(args, options);
  CLI::App app("bench reads the CSVs of syscost: what each test asked of the kernel, and what changed", "bench");
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("bench {}, reads CSVs of schema version {}", SYSCOST_VERSION, schema::kSchemaVersion));
  app.footer(kMainFooter);

  auto* summary = app.add_subcommand("summary", "What each test asked of the kernel")->footer(kSummaryFooter);
  summary->add_option("RUN", options.runs, kRunHelp)->required();
  summary->add_flag("--details", options.has_details, "The tables of every test, not only of the one that was chosen");
  add_selection_options(*summary, options, raw, fmt::format("{} (worst)", fmt::join(kSummaryKeys, ", ")));
  add_output_options(*summary, raw);
  add_size_option(*summary, options, "1000000");
  add_run_options(*summary, options, 1);

  std::string run;
  auto* show = app.add_subcommand("show", "Latency histograms and numbers of one test")->alias("hist");
  show->footer(kShowFooter);
  show->add_option("RUN", run, kRunHelp)->required();
  show->add_option("TEST", options.test,
                   "Its name, or a part that only one test has; of a stamp file a part of the launches' names");
  show->add_option("SYSCALL", options.syscall, "Only these: names, %classes, /regex/, !negations, with commas between");
  add_selection_options(*show, options, raw, fmt::format("{} (file)", fmt::join(kSummaryKeys, ", ")));
  show->add_flag("--fine", options.is_fine, "Full resolution: 8 rows per power of two");
  show->add_option("--svg", options.svg, "Of one launch of a stamp file: write its picture here")
      ->type_name("FILE")
      ->check(not_empty());
  add_output_options(*show, raw);
  add_run_options(*show, options, 1);

  std::string old_run;
  std::string new_run;
  auto* compare = app.add_subcommand("compare", "What changed between two runs")->footer(kCompareFooter);
  compare->add_option("OLD", old_run, kRunHelp)->required();
  compare->add_option("NEW", new_run, "The same, for the run that is judged")->required();
  add_selection_options(*compare, options, raw, fmt::format("{} (worst)", fmt::join(kCompareKeys, ", ")));
  add_judging_options(*compare, options, raw, "counts");
  add_report_options(*compare, options, raw);
  add_size_option(*compare, options, "60000");
  add_run_options(*compare, options, 2);

  auto* ab = app.add_subcommand("ab", "Run two commands in turns and compare them")->footer(kAbFooter);
  ab->add_option("--rounds", options.rounds, "Runs of each before the first verdict (10)");
  ab->add_option("--budget", options.budget_s, "Seconds it may take (60); one round is run in any case")
      ->type_name("SECONDS");
  ab->add_flag("--whole", options.has_whole,
               "Compare what the commands themselves take, too, from start to end; then they may be any programs");
  ab->add_option("--keep", options.keep, "Keep the CSVs of all runs in this new folder")
      ->type_name("DIR")
      ->check(not_empty());
  add_judging_options(*ab, options, raw, "all");
  add_report_options(*ab, options, raw);
  add_size_option(*ab, options, "60000");

  auto* baseline_update = add_baseline_command(app, options, kRunHelp);
  add_count_options(*baseline_update, raw);
  std::string checked_run;
  auto* check = add_check_command(app, options, checked_run, kRunHelp);
  add_count_options(*check, raw);
  add_output_options(*check, raw);
  add_run_options(*check, options, 1);

  auto* confirm = add_confirm_command(app, options, old_run, new_run, kRunHelp);
  add_judging_options(*confirm, options, raw, "counts");
  add_output_options(*confirm, raw);
  add_run_options(*confirm, options, 2);

  auto* runs = app.add_subcommand("runs", "Which runs a file holds, the newest first")->footer(kRunsFooter);
  runs->add_option("RUN", options.runs, kRunHelp)->required();
  add_output_options(*runs, raw);

  auto* doctor = app.add_subcommand("doctor", "Whether this machine can measure")->footer(kDoctorFooter);
  doctor->add_option("BINARY", options.binary, "A test or benchmark linked with syscost");

  try {
    app.parse(std::vector<std::string>(own_args.rbegin(), own_args.rend()));
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, fitted_help(app.help()), kExitOk};
  } catch (const CLI::CallForVersion&) {
    return {std::nullopt, app.version() + '\n', kExitOk};
  } catch (const CLI::ParseError& error) {
    if (args.empty()) return {std::nullopt, fitted_help(app.help()), kExitBadInput};
    auto chosen = app.get_subcommands();
    return usage_error(
        fmt::format("{}\nTry `bench {}--help`.", error.what(), chosen.empty() ? "" : chosen.front()->get_name() + " "));
  }
  if (summary->parsed()) options.command = Command::summary;
  if (show->parsed()) {
    options.command = Command::show;
    options.runs = {run};
    // --test says which tests: what stands behind RUN is then a SYSCALL.
    if (!options.tests.empty() && !options.test.empty()) {
      if (!options.syscall.empty()) return usage_error("show takes a TEST or --test, not both");
      options.syscall = std::exchange(options.test, "");
    }
  }
  if (compare->parsed()) {
    options.command = Command::compare;
    options.runs = {old_run, new_run};
  }
  if (ab->parsed()) options.command = Command::ab;
  if (baseline_update->parsed()) options.command = Command::baseline_update;
  if (check->parsed()) {
    options.command = Command::check;
    options.runs = {checked_run};
  }
  if (confirm->parsed()) {
    options.command = Command::confirm;
    options.runs = {old_run, new_run};
  }
  if (runs->parsed()) options.command = Command::runs;
  if (doctor->parsed()) options.command = Command::doctor;
  return finish(std::move(options), raw);
}

}  // namespace syscost::bench::cli
