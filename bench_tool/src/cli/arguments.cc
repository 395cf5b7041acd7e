// SPDX-License-Identifier: MIT
#include "cli/arguments.h"

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "budgets/measures.h"
#include "cli/parse.h"

namespace syscost::bench::cli {

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? std::string("it is empty") : std::string(); }, ""};
}

CLI::Validator at_least_1000() {
  return {[](const std::string& text) {
            const std::optional<std::size_t> number = whole_number(text);
            return number && *number >= 1000 ? std::string() : "it is a whole number from 1000 to 1000000000";
          },
          ""};
}

CLI::Validator at_least_1(std::size_t most) {
  return {[most](const std::string& text) {
            const std::optional<std::size_t> number = whole_number(text);
            return number && *number >= 1 && *number <= most ? std::string()
                                                             : "it is a whole number from 1 to " + std::to_string(most);
          },
          ""};
}

void add_test_option(CLI::App& command, Options& options) {
  command
      .add_option("--test,--filter", options.tests,
                  "Only tests that match, in the syntax of --gtest_filter: Log.*:Net.?-*Slow*")
      ->type_name("PATTERN")
      ->check(not_empty());
}

namespace {

const char* const kBaselineFooter = R"(bench baseline update RUN...

Writes the syscalls of the tests of all RUNs into a text file for your repository: sorted, one line for each count.
Give several runs, three or more if possible. If they differ, the file has the range, and `bench` estimates how many
false alarms the next run will raise. bench reads the newest run of each file; --all-runs reads all.
If a test failed, or lost events, no file is written, unless --allow-failed or --allow-lost leaves its counts out.

Examples:
  for i in 1 2 3; do SYSCOST_CSV=$PWD/run$i.csv ctest; done
  bench baseline update run1.csv run2.csv run3.csv    writes syscost.baseline
  bench check pr.csv                                  judges a run against it)";

const char* const kCheckFooter =
    R"(Judges RUN against a baseline (`bench baseline update`), as `compare` judges two runs.
The baseline is OLD, and RUN is NEW. Exit code 1: a count grew, an errno is new, or a test is missing or failed. Exit
code 3: no test can be judged (events lost, another filter), or with --strict one cannot. A test that is not in the
baseline is shown and passes; --update adds it. --accept writes some tests alone, and no other byte of the file.
Without --baseline, check reads syscost.baseline of the current folder.

With a COMMAND, tests that are red or in doubt are run again: until they are decided, 40 times at most, within --budget.
COMMAND gets SYSCOST_CSV, and must run all of a program's tests. Without RUN, the exit code is 1, too, if COMMAND ends
with a status that no failed test explains.

Examples:
  bench check pr.csv
  bench check pr.csv --update               after a review: writes the differences into the baseline
  bench check pr.csv --accept 'Log.*'       the same, of these tests alone
  bench check -- ctest --test-dir build       measures, and runs again what is red or in doubt
  bench check pr.csv -- ctest --test-dir build       the same for a run that you have
  bench check pr.csv -- build/{program}       runs only programs with such tests again
  bench check --update -- ctest --test-dir build
  bench check pr.csv --gate-counts 10% --gate-p99 20%
  bench check pr.csv --baseline ci/linux.baseline --format md >> "$GITHUB_STEP_SUMMARY")";

/// Tests that are written without counts.
void add_allow_options(CLI::App& app, Options& options) {
  app.add_flag("--allow-failed", options.check.allows_failed,
               "Write a failed test without counts; check does not judge it while it fails");
  app.add_flag("--allow-lost", options.check.allows_lost,
               "Write a test with lost events or missing rows without counts; check does not judge its counts");
}

}  // namespace

void add_side_command(CLI::App& app, const std::string& name, std::vector<std::string>& command, const char* side) {
  app.add_option_function<std::string>(
         name,
         [&command](const std::string& line) {
           command = {"sh", "-c", line};
         },
         std::string("Measures ") + side +
             " again, a line for sh: bench runs it until red and doubtful tests are decided")
      ->type_name("COMMAND")
      ->check(not_empty());
}

void add_run_budget(CLI::App& app, Options& options) {
  app.add_option("--budget", options.run_budget_s, "Seconds for further runs (600); one always runs")
      ->type_name("SECONDS");
}

CLI::App* add_baseline_command(CLI::App& app, Options& options, const char* run_help) {
  auto* baseline = app.add_subcommand("baseline", "Write the syscalls of tests into a file to commit");
  baseline->require_subcommand(1);
  auto* update = baseline->add_subcommand("update", "Write the baseline of one or more runs")->footer(kBaselineFooter);
  update->add_option("RUN", options.runs, run_help)->required();
  update->add_option("-o,--output", options.check.output, "The file to write (syscost.baseline)")
      ->type_name("FILE")
      ->check(not_empty());
  update->add_flag("--times", options.check.has_times,
                   "Also write times and percentiles, for budgets of their growth; they differ in each run");
  update->add_flag("--all-runs", options.all_runs, "Take all runs of each file");
  add_allow_options(*update, options);
  return update;
}

CLI::App* add_check_command(CLI::App& app, Options& options, std::string& run, const char* run_help) {
  auto* check = app.add_subcommand("check", "Judge a run against a baseline")->footer(kCheckFooter);
  check->add_option("RUN", run, std::string(run_help) + "; or leave it out, and give COMMAND");
  check->add_option("--baseline", options.check.baseline, "The baseline (syscost.baseline)")
      ->type_name("FILE")
      ->check(not_empty());
  check
      ->add_option("--budgets,--config", options.check.budgets,
                   "The file with budgets and rules (syscost.toml, if it exists); see docs/gate.md")
      ->type_name("FILE")
      ->check(not_empty());
  check
      ->add_option("--gate-counts", options.check.gate_counts,
                   "Let the calls of a test grow by this share, for example 10%")
      ->type_name("SHARE");
  check->add_option("--gate-p99", options.check.gate_p99, "Red if a syscall's p99 grew by more than this share")
      ->type_name("SHARE");
  add_run_budget(*check, options);
  check->add_flag("--update", options.check.is_update, "Write the differences into the baseline");
  check
      ->add_option("--accept", options.check.accepted,
                   "Write the differences of these tests alone into the baseline; may be repeated")
      ->type_name("PATTERN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(not_empty());
  add_allow_options(*check, options);
  check->add_flag("--strict", options.is_strict, "Exit 3 if any test has no verdict, not only if none has");
  check->add_flag("--all", options.all, "Show every test (json always does)");
  return check;
}

std::string check_fault(const Options& options) {
  const CheckOptions& asked = options.check;
  if (!std::isfinite(options.run_budget_s) || options.run_budget_s < 0) {
    return "--budget takes a number of seconds, 0 or more";
  }
  if (!options.old_command.empty() && options.new_command.empty()) {
    return "--old needs --new: to tell the two, bench runs both again";
  }
  if (options.command != Command::check) return {};
  if (options.format == Format::csv) return "check prints text, md, json, junit, sarif or github";
  for (const auto& [name, text] :
       {std::pair("--gate-counts", asked.gate_counts), std::pair("--gate-p99", asked.gate_p99)}) {
    if (!text.empty() && !budgets::parse_share(text)) {
      return std::string(name) + " takes a share in percent, for example 10%, not \"" + text + '"';
    }
  }
  const bool has_command = !options.a.empty() && !options.a[0].empty();
  if (options.runs.empty() && !has_command) {
    return "check needs a RUN, or a command that writes one: bench check -- COMMAND [ARG]...";
  }
  if (!options.a.empty() && !has_command) return "the command after `--` is empty";
  if ((asked.allows_failed || asked.allows_lost) && !asked.writes()) {
    return "--allow-failed and --allow-lost say what --update writes: bench check RUN --update --allow-lost";
  }
  if (asked.writes() && has_command && !options.runs.empty()) {
    return "--update writes the counts of RUN, or those of a run of COMMAND: give one of them";
  }
  if (asked.writes() && !options.tests.empty()) {
    return "--test chooses what is judged, and --update and --accept say what is written: leave --test out";
  }
  if (asked.is_update && !asked.accepted.empty()) return "--update writes all tests; leave it or --accept out";
  return {};
}

namespace {

const char* const kExportFooter =
    R"(Writes tests as spans, and their counts, times and latencies as metrics, in the JSON of the OpenTelemetry protocol:
into a FILE (- for standard output), or to a receiver at URL by HTTP, packed by gzip. bench adds /v1/traces and
/v1/metrics to URL. Without --otlp it takes OTEL_EXPORTER_OTLP_ENDPOINT. Headers, for example a password, come from
OTEL_EXPORTER_OTLP_HEADERS. The same run has the same ids each time. docs/many-machines.md lists all names.
If the receiver is busy (429, 502, 503, 504) or does not listen, bench tries again, until --timeout.
--format prints the metrics as text for Prometheus (openmetrics), or as a table for databases (csv).
Exit codes: 0 all was taken; 2 usage, input or I/O, or the receiver refused something.

Examples:
  bench export out.csv --otlp http://localhost:4318
  bench export out.csv --otlp run.jsonl     a file, one request a line
  bench export out.csv --otlp http://localhost:9090/api/v1/otlp --only metrics     Prometheus
  bench export out.csv --format openmetrics >run.om
  bench export results/ --recursive --format csv >runs.csv     for DuckDB and pandas (docs/many-machines.md)
  bench export results/ --recursive --dry-run      says what would be sent, and where)";

}  // namespace

CLI::App* add_export_command(CLI::App& app, Options& options, const char* run_help) {
  auto* command =
      app.add_subcommand("export", "Hand a run over: to OpenTelemetry, to Prometheus, as a table for databases");
  command->footer(kExportFooter);
  command->add_option("RUN", options.runs, run_help)->required();
  auto* otlp =
      command->add_option("--otlp", options.to.otlp, "Where to: a file, - or an address (OTEL_EXPORTER_OTLP_ENDPOINT)")
          ->type_name("FILE|URL")
          ->check(not_empty());
  auto* format =
      command->add_option("--format", options.to.format,
                          "Instead of OTLP, print text: openmetrics, or csv, a table with one number a line");
  format->check(CLI::IsMember({"openmetrics", "csv"}))->excludes(otlp);
  command
      ->add_option("--only", options.to.only,
                   "traces or metrics; windows = both, without spans of traced calls (--syscost_trace)")
      ->check(CLI::IsMember({"traces", "metrics", "windows"}));
  command->add_flag("--fine", options.is_fine,
                    "Latencies in all buckets, 8 for each power of two; without it, one for each power of two");
  command
      ->add_option("--timeout", options.to.timeout_s, "Time limit of all requests and waits together, in seconds (60)")
      ->type_name("SECONDS");
  command->add_flag("--dry-run", options.to.is_dry_run, "Say what would be sent, and send or write nothing");
  add_test_option(*command, options);
  return command;
}

std::string export_fault(const Options& options) {
  constexpr double kMost = 86'400;
  if (options.command != Command::export_run) return {};
  const double timeout_s = options.to.timeout_s;
  if (!std::isfinite(timeout_s) || timeout_s <= 0 || timeout_s > kMost) {
    return "--timeout takes a number of seconds, above 0 and at most 86400";
  }
  if (!options.to.format.empty() &&
      (!options.to.only.empty() || options.to.is_dry_run || timeout_s != ExportOptions().timeout_s)) {
    return "--only, --timeout and --dry-run are for OTLP; --format prints all numbers";
  }
  return {};
}

namespace {

namespace fs = std::filesystem;

const char* const kReportFooter =
    R"(Writes a page about RUN into one file, which opens in a browser without a network: totals, all tests in a table that
you sort and filter, and for each test its syscalls with latency histograms on one axis, its lines (--syscost_where),
findings, history and timeline (--syscost_trace); laws of families of tests. Of several RUN the page is about the last
one; the others, and earlier runs in the same files, are its history. Without JavaScript the tables and charts are there,
too. Keys: / filters, j and k go from test to test, Enter opens one.

Examples:
  bench report out.csv                      the newest run of the file, as out.html
  bench report nightly/*.csv -o report.html with the history of each test
  bench report --compare main.csv pr.csv -o report.html     what changed, and why
  bench report results/ --recursive -o report.html
  bench report out.csv -o - | ssh host 'cat > report.html')";

}  // namespace

CLI::App* add_report_command(CLI::App& app, Options& options, const char* run_help) {
  auto* command = app.add_subcommand("report", "A run as one HTML file to look at")->footer(kReportFooter);
  command->add_option("RUN", options.runs, run_help);
  command
      ->add_option("-o,--output", options.page.output,
                   "The file to write; - for standard output (out.html for a RUN out.csv, in the current folder)")
      ->type_name("FILE")
      ->check(not_empty());
  command
      ->add_option("--compare", options.page.compare,
                   "Also what changed between these two, and why; without RUN the page is about NEW")
      ->type_name("OLD NEW")
      ->expected(2)
      ->check(not_empty());
  command->add_option("--stamps", options.page.stamps, "Also pictures of the launches in this file of GPU stamps")
      ->type_name("FILE")
      ->check(not_empty());
  add_test_option(*command, options);
  return command;
}

std::string page_name_for(const std::string& run) {
  std::error_code error;
  fs::path path = fs::absolute(run, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::string name = path.filename().string();
  for (const char* ending : {".gz", ".csv", ".json"}) {
    if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
  }
  return (name.empty() ? "report" : name) + ".html";
}

}  // namespace syscost::bench::cli
