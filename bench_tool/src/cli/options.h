// SPDX-License-Identifier: MIT
//
// Options: the options of the command line, checked. The options that one command alone has stand in a struct of its
// own, so that it is plain which command reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "csv/run_files.h"
#include "judge/accept.h"
#include "judge/count_policy.h"
#include "render/terminal.h"

namespace syscost::bench::cli {

/// The options of `export` alone.
struct ExportOptions {
  std::string format;       ///< `openmetrics` or `csv`, on standard output; empty = the OpenTelemetry protocol.
  std::string otlp;         ///< A file, `-` for stdout, or an address; empty = the variables of OpenTelemetry.
  std::string only;         ///< `traces`, `metrics` or `windows` (both, without spans of calls); empty = all.
  double timeout_s = 60;    ///< For all requests and waits together.
  bool is_dry_run = false;  ///< Prints the requests and sends nothing.
};

/// The options of `faults` alone.
struct FaultsOptions {
  std::string calls;                ///< A selector; empty = the list of syscost/call_errors.h.
  std::vector<std::string> errors;  ///< `ENOSPC`, `SHORT`; empty = the table's.
  bool is_lasting = false;          ///< Each later call of the syscall fails as well.
  bool has_every_call = false;      ///< Not only the first of each call site.
  std::size_t sample = 0;           ///< 0 = all.
  std::uint64_t seed = 1;
  std::size_t jobs = 1;
  unsigned timeout_s = 10;
  std::string framework;        ///< `googletest`, `catch2`, `doctest`; empty = found.
  std::string folder = "auto";  ///< --cwd
  bool has_own_tmp = false;     ///< --private-tmp
  bool has_no_lines = false;
  std::string state;                 ///< File; empty = none.
  std::vector<std::string> fail_on;  ///< Words of outcomes, or `any`.
  bool lists_errors = false;         ///< --errors: print the table instead.
};

inline constexpr const char* kBaselineFile = "syscost.baseline";
inline constexpr const char* kBudgetsFile = "syscost.toml";

/// The options of `baseline` and `check`, which use a committed baseline.
struct CheckOptions {
  std::string output = kBaselineFile;  ///< baseline update: where to write it.
  bool has_times = false;              ///< baseline update: times and percentiles too, for budgets of their growth.
  bool allows_failed = false;          ///< Writing a baseline: a test that failed is written, without counts.
  bool allows_lost = false;            ///< The same of a test that was not counted completely.
  std::string baseline;                ///< check: empty = kBaselineFile where there is one.
  std::string budgets;                 ///< check: empty = kBudgetsFile where there is one.
  bool is_update = false;              ///< check: write what differs into the baseline.
  std::vector<std::string> accepted;   ///< check: the same of the tests that match one of these patterns alone.
  std::string gate_counts;             ///< check: `10%`; empty = counts are exact.
  std::string gate_p99;                ///< check: `20%`; empty = latencies are not gated.

  bool writes() const { return is_update || !accepted.empty(); }
};

/// The options of `trace` alone.
struct TraceOptions {
  std::string test;                  ///< TEST, or a trace file.
  std::string from;                  ///< FILE: a trace file, a CSV or a folder; empty = syscost_artifacts here.
  std::string syscall;               ///< A selector (model/choice.h).
  std::vector<std::string> errnos;   ///< `ENOENT`
  std::string site;                  ///< A part of a site.
  bool is_critical_path = false;     ///< The critical path instead of the calls.
  bool is_errors_only = false;       ///< Calls that failed.
  std::vector<std::string> threads;  ///< Kernel's ids, as given.
  std::vector<std::uint32_t> thread_ids;
  std::vector<std::string> between;  ///< Two times, as given.
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::string first, last, slowest;  ///< As given; at most one.
  std::optional<std::size_t> most;   ///< Which of them: the one that is not empty.
};

/// The options of `findings` alone.
struct FindingsOptions {
  bool lists_rules = false;          ///< --rules
  std::vector<std::string> ignored;  ///< --ignore: names of rules.
  std::vector<std::string> fail_on;  ///< --fail-on: names of rules, or `any`.
  bool has_notes = false;            ///< --notes: those, too.
  std::string artifacts;             ///< --artifacts: the folder of traces; empty = the one beside each CSV.
};

/// The options of `report` alone.
struct ReportOptions {
  std::string output;                ///< A file, or `-` for stdout.
  std::string stamps;                ///< A stamp file, for pictures of GPU launches; empty = none.
  std::vector<std::string> compare;  ///< OLD and NEW; empty = nothing is compared.
};

enum class Format { text, md, csv, json };
/// The report for CI systems that compare and ab print instead of a Format.
enum class Report { none, junit, sarif, github };
/// The measures that can end in exit code 1.
struct Gate {
  bool counts = false;
  bool wall = false;
  bool cpu = false;
  // --allow: other reasons that would fail a test, with any gate.
  bool allows_missing = false;
  bool allows_failed = false;  ///< Or crashed.
  bool allows_skipped = false;
  bool allows_retried = false;  ///< A test that failed and passed in a later process counts as that process had it.

  bool times() const { return wall || cpu; }
  bool is_off() const { return !counts && !times(); }
};
/// --output FORMAT=FILE
struct Output {
  Format format = Format::text;
  Report report = Report::none;
  std::string file;
};
enum class Color { automatic, always, never };

/// Exit codes, for people and CI alike.
enum ExitCode : int {
  kExitOk = 0,
  kExitRegression = 1,
  kExitBadInput = 2,   ///< Usage, input or I/O.
  kExitNoVerdict = 3,  ///< Something could not be judged.
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): what belongs together stands together
struct Options {
  std::vector<std::string> runs;           ///< RUN arguments: files or folders.
  std::string test;                        ///< show, log: full name or a unique part of it; empty = none.
  std::string syscall;                     ///< show: a selector (model/choice.h); empty = all.
  std::string svg;                         ///< show: file for a picture; empty = none.
  std::string binary;                      ///< doctor: empty = the installed syscost.
  std::vector<std::string> run_arguments;  ///< run: its options, --, the command; syscost-run reads them.
  std::vector<std::string> a;              ///< ab, check, faults: a command and its arguments.
  std::vector<std::string> b;              ///< ab: the other; empty = A again.
  // compare: what measures a side again; empty = it is a file.
  std::vector<std::string> old_command;
  std::vector<std::string> new_command;
  double run_budget_s = 600;    ///< compare, check: no further run begins that would not end within it.
  std::size_t rounds = 10;      ///< ab: so many before the first verdict.
  double budget_s = 60;         ///< ab: no round but the first begins that would not end within it.
  bool is_counts_only = false;  ///< ab: a few rounds, and times are not judged.
  bool has_whole = false;       ///< ab: the time of each command itself is a row, too.
  std::string keep;             ///< ab: folder for the CSVs; empty = they are deleted.
  Format format = Format::text;
  Report report = Report::none;
  std::vector<Output> outputs;         ///< The same result in other formats.
  std::size_t max_bytes = 0;           ///< --max-bytes: of Markdown; 0 = what GitHub takes.
  std::vector<std::string> locations;  ///< --locations: GoogleTest's lists of tests as JSON.
  Color color = Color::automatic;
  std::vector<std::string> run_ids;  ///< --run; compare takes up to two.
  bool all_runs = false;
  csv::Folders folders = csv::Folders::flat;  ///< --recursive
  bool all = false;
  std::string tests;                 ///< --test: patterns (model/choice.h); empty = all.
  std::string sort;                  ///< --sort: one of the command's keys; empty = worst first, or as in the file.
  std::optional<std::size_t> top;    ///< --top: so many tests at most, 0 = all; none = what the screen has room for.
  bool has_details = false;          ///< summary: the tables of each test.
  bool has_extended = false;         ///< summary: statistics over all tests.
  bool has_where = false;            ///< summary, show: the lines of the program that make the calls.
  bool sorts_lines = false;          ///< --sort and --top choose among these lines, not among tests.
  bool scales_by_label = false;      ///< scale: sizes are those of the runs' labels.
  std::optional<std::size_t> width;  ///< --width: 0 = any.
  render::Screen screen;             ///< Room for text; see run().
  bool is_fine = false;
  bool is_strict = false;
  Gate gate = {.counts = true};
  judge::CountPolicy counts;                               ///< --near-abs, --near-rel, --tolerate, --volatile
  std::vector<judge::Accept> accepts;                      ///< From the rules' file and from --accept-from.
  std::vector<judge::RuleOfTests> rules_of_tests;          ///< From the rules' file: those in `counts`.
  std::string accept_from;                                 ///< A file with commit messages, or -; empty = none.
  double threshold = 3;                                    ///< Percent of a time; see judge/time_verdict.h.
  std::vector<std::pair<std::string, std::string>> pairs;  ///< --pair OLD=NEW

  std::string
      config;  ///< compare, ab, log, report: a file with rules for counts; empty = kBudgetsFile where there is one.

  CheckOptions check;        ///< baseline and check
  ExportOptions to;          ///< export
  FaultsOptions faults;      ///< faults
  FindingsOptions findings;  ///< findings
  TraceOptions trace;        ///< trace
  ReportOptions page;        ///< report

  bool for_people() const { return report == Report::none && (format == Format::text || format == Format::md); }
  /// True if control characters in printed names are made visible; JSON has escapes of its own.
  bool is_printable() const { return format != Format::json; }
};

/// ab --counts: three runs of each side show which counts vary. The others are exact in one run.
inline constexpr std::size_t kCountRounds = 3;

}  // namespace syscost::bench::cli
