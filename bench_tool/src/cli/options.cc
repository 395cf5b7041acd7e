// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

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
`bench COMMAND --help` says more.)";

const char* const kSummaryFooter = R"(Per test: strace -c's columns, waits apart from work, failing errnos, findings.
Numbers are per repetition: the median when repetitions differ, with [min..max] for counts.

Examples:
  bench summary out.csv
  bench summary results/                    every *.csv of the folder
  bench summary out.csv --all-runs          pool all runs of the file, not only the newest
  bench summary out.csv --format json | jq '.tests[].calls')";

const char* const kShowFooter = R"(TEST may be a part of the name when only one test has it.

Examples:
  bench show out.csv Log.Write              every syscall of the test
  bench show out.csv Log.Write write        one of them
  bench show out.csv Log.Write write --fine full resolution: 8 rows per power of two)";

const char* const kCompareFooter =
    R"(Counts are exact: any growth of a syscall's calls or of a failing errno is a regression, named in the last column.
Syscalls of class `volatile` (futex, allocator, ...) are shown and not gated. Times are shown and not gated.
Counts that vary among repetitions regress when old and new ranges are further apart than --near-abs and --near-rel.

Examples:
  bench compare main.csv pr.csv             changed tests only; exit code 1 on regression
  bench compare main.csv pr.csv --all       unchanged tests too
  bench compare slow.csv fast.csv --pair Log.Slow=Log.Fast
  bench compare out.csv out.csv --run 17 --run 42     two runs of one file
  bench compare main.csv pr.csv --format md >> "$GITHUB_STEP_SUMMARY")";

const char* const kDoctorFooter =
    R"(Runs BINARY --syscost_doctor: which backends work on this machine, why the others do not, and the fix.

Examples:
  bench doctor build/my_tests)";

/// Commands of the design that are not built yet: naming them beats "unexpected argument".
constexpr std::array<std::string_view, 4> kLaterCommands = {"check", "ab", "report", "export"};
constexpr std::array<std::string_view, 5> kCommands = {"summary", "show", "hist", "compare", "doctor"};

const std::map<std::string, Format> kFormats = {
    {"text", Format::text}, {"md", Format::md}, {"csv", Format::csv}, {"json", Format::json}};
const std::map<std::string, Color> kColors = {
    {"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}};

/// Text of the options that need a second look after CLI11's.
struct Raw {
  std::string gate = "counts";
  std::vector<std::string> pairs;
  std::string format = "text";
  std::string color = "auto";
};

void add_output_options(CLI::App& app, Raw& raw) {
  app.add_option("--format", raw.format, "text, md, csv or json")
      ->check(CLI::IsMember(kFormats))
      ->capture_default_str();
  app.add_option("--color", raw.color, "auto (a terminal, and NO_COLOR is not set), always or never")
      ->check(CLI::IsMember(kColors))
      ->capture_default_str();
}

void add_run_options(CLI::App& app, Options& options, int most_ids) {
  auto* run = app.add_option("--run", options.run_ids,
                             most_ids == 1 ? "Read the run with this run_id instead of the newest"
                                           : "Read the run with this run_id instead of the newest; given twice: "
                                             "one for OLD, one for NEW");
  run->type_name("ID")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--all-runs", options.all_runs, "Pool all runs of each file")->excludes(run);
}

Parsed usage_error(std::string message) {
  return {std::nullopt, "bench: " + std::move(message) + '\n', kExitBadInput};
}

/// Checks what CLI11 cannot and fills in the rest.
Parsed finish(Options options, const Raw& raw) {
  options.format = kFormats.at(raw.format);
  options.color = kColors.at(raw.color);
  if (options.run_ids.size() > (options.command == Command::compare ? 2U : 1U)) {
    return usage_error("too many --run: one for each RUN");
  }
  if (raw.gate == "none") {
    options.gate = Gate::none;
  } else if (raw.gate == "times" || raw.gate == "all") {
    return usage_error("--gate " + raw.gate +
                       " is not in this version: times can only be gated with interval statistics. Use --gate counts");
  } else if (raw.gate != "counts") {
    return usage_error("--gate takes counts or none, not \"" + raw.gate + '"');
  }
  for (const std::string& pair : raw.pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
      return usage_error("--pair takes OLD=NEW, two test names, not \"" + pair + '"');
    }
    options.pairs.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  for (double near : {options.near_abs, options.near_rel}) {
    if (!std::isfinite(near) || near < 0) return usage_error("--near-abs and --near-rel take a number, 0 or more");
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

}  // namespace

Parsed parse(const std::vector<std::string>& args) {
  if (!args.empty() && !args[0].starts_with('-')) {
    if (std::find(kLaterCommands.begin(), kLaterCommands.end(), args[0]) != kLaterCommands.end()) {
      return usage_error(fmt::format("`{}` is not in this version; it has {}", args[0], fmt::join(kCommands, ", ")));
    }
    if (std::find(kCommands.begin(), kCommands.end(), args[0]) == kCommands.end()) {
      return usage_error(fmt::format("no command `{}`; there are {}", args[0], fmt::join(kCommands, ", ")));
    }
  }
  Options options;
  Raw raw;
  CLI::App app("bench reads the CSVs of syscost: what each test asked of the kernel, and what changed", "bench");
  app.require_subcommand(1);
  app.set_version_flag(
      "--version", fmt::format("bench {}, reads CSVs of schema version {}", SYSCOST_VERSION, schema::kSchemaVersion));
  app.footer(kMainFooter);

  auto* summary = app.add_subcommand("summary", "What each test asked of the kernel")->footer(kSummaryFooter);
  summary->add_option("RUN", options.runs, kRunHelp)->required();
  add_output_options(*summary, raw);
  add_run_options(*summary, options, 1);

  std::string run;
  auto* show = app.add_subcommand("show", "Latency histograms and numbers of one test")->alias("hist");
  show->footer(kShowFooter);
  show->add_option("RUN", run, kRunHelp)->required();
  show->add_option("TEST", options.test, "Its name, or a part that only one test has")->required();
  show->add_option("SYSCALL", options.syscall, "Only this syscall");
  show->add_flag("--fine", options.is_fine, "Full resolution: 8 rows per power of two");
  add_output_options(*show, raw);
  add_run_options(*show, options, 1);

  std::string old_run;
  std::string new_run;
  auto* compare = app.add_subcommand("compare", "What changed between two runs")->footer(kCompareFooter);
  compare->add_option("OLD", old_run, kRunHelp)->required();
  compare->add_option("NEW", new_run, "The same, for the run that is judged")->required();
  compare->add_flag("--all", options.all, "Show unchanged tests too (csv and json always do)");
  compare->add_option("--pair", raw.pairs, "Compare test OLD with test NEW; may be repeated")
      ->type_name("OLD=NEW")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  compare->add_option("--gate", raw.gate, "What ends in exit code 1: counts or none")->capture_default_str();
  compare->add_flag("--strict", options.is_strict, "Exit 3 when a test has no verdict");
  compare->add_option("--near-abs", options.near_abs, "Tolerance in calls where counts vary")->capture_default_str();
  compare->add_option("--near-rel", options.near_rel, "Tolerance in percent where counts vary")->capture_default_str();
  add_output_options(*compare, raw);
  add_run_options(*compare, options, 2);

  auto* doctor = app.add_subcommand("doctor", "Whether this machine can measure")->footer(kDoctorFooter);
  doctor->add_option("BINARY", options.binary, "A test or benchmark linked with syscost");

  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), kExitOk};
  } catch (const CLI::CallForVersion&) {
    return {std::nullopt, app.version() + '\n', kExitOk};
  } catch (const CLI::ParseError& error) {
    if (args.empty()) return {std::nullopt, app.help(), kExitBadInput};
    auto chosen = app.get_subcommands();
    return usage_error(
        fmt::format("{}\nTry `bench {}--help`.", error.what(), chosen.empty() ? "" : chosen.front()->get_name() + " "));
  }
  if (summary->parsed()) options.command = Command::summary;
  if (show->parsed()) {
    options.command = Command::show;
    options.runs = {run};
  }
  if (compare->parsed()) {
    options.command = Command::compare;
    options.runs = {old_run, new_run};
  }
  if (doctor->parsed()) options.command = Command::doctor;
  return finish(std::move(options), raw);
}

}  // namespace syscost::bench::cli
