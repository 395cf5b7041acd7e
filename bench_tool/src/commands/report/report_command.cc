// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/report/report.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kReportFooter =
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

namespace fs = std::filesystem;

/// Where the page of this RUN goes without --output: `out.html` for `results/out.csv.gz`, in the current folder.
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

void add_report(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("RUN", options.runs, cli::kRunHelp);
  line.add_option("-o,--output", options.page.output,
                  "The file to write; - for standard output (out.html for a RUN out.csv, in the current folder)")
      ->type_name("FILE")
      ->check(cli::not_empty());
  line.add_option("--compare", options.page.compare,
                  "Also what changed between these two, and why; without RUN the page is about NEW")
      ->type_name("OLD NEW")
      ->expected(2)
      ->check(cli::not_empty());
  line.add_option("--stamps", options.page.stamps, "Also pictures of the launches in this file of GPU stamps")
      ->type_name("FILE")
      ->check(cli::not_empty());
  cli::add_test_option(line, options);
  for (CLI::Option* const option :
       {cli::add_config_option(line, options, "For --compare: read `volatile`, `tolerate` and `accept` from this file"),
        cli::add_accept_option(line, options)}) {
    option->needs("--compare");
  }
  cli::add_run_options(line, options);
}

std::string read_report(cli::Grammar& grammar, const CLI::App&) {
  cli::Options& options = grammar.options;
  if (options.runs.empty() && !options.page.compare.empty()) options.runs = {options.page.compare.back()};
  if (options.runs.empty()) return "report needs a RUN, or --compare OLD NEW\nTry `bench report --help`.";
  if (options.page.output.empty()) options.page.output = page_name_for(options.runs.back());
  return {};
}

constexpr cli::Needless kReportNeedless[] = {
    {"--old", "report takes both runs at once: bench report --compare OLD NEW"},
    {"--new", "report takes both runs at once: bench report --compare OLD NEW"}};

}  // namespace

constinit const cli::Command kReportCommand = {
    .name = "report",
    .group = "Look",
    .about = "A run as one HTML file to look at",
    .footer = kReportFooter,
    .add = add_report,
    .read = read_report,
    .run = [](const cli::Options& options, const render::Paint&, std::ostream& out,
              std::ostream& err) { return report_page(options, out, err); },
    .needless = kReportNeedless,
};

}  // namespace syscost::bench::commands
