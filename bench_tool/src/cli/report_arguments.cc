// SPDX-License-Identifier: MIT
#include "cli/report_arguments.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "cli/test_option.h"
#include "cli/validators.h"

namespace syscost::bench::cli {
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
