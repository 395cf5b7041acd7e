// SPDX-License-Identifier: MIT
//
// Sites for machines.

#include <array>
#include <utility>

#include "commands/compare/compare_machine.h"
#include "commands/where/where.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using render::Json;
using render::to_json;
using stats::SiteTotal;

Json total_json(const SiteTotal& one) {
  Json json = {{"syscall", one.syscall},
               {"classes", render::classes_json(one.classes)},
               {"calls", to_json(one.calls)},
               {"errors", to_json(one.errors)},
               {"kernel_ns", to_json(one.kernel_ns)}};
  json["errnos"] = one.errors ? Json(one.errnos) : Json(nullptr);
  json.update(site_json(one.site));
  return json;
}

Json totals_json(const std::vector<SiteTotal>& sites, bool has_tests) {
  Json list = Json::array();
  for (const SiteTotal& one : sites) {
    list.push_back(total_json(one));
    if (has_tests) list.back()["tests"] = one.tests;
  }
  return list;
}

Json test_json(const SitedTest& test) {
  return {{"test", test.window.name},
          {"loop", test.window.loop.empty() ? Json(nullptr) : Json(std::string(test.window.loop))},
          {"repetitions", test.window.n},
          {"iterations", to_json(test.window.iterations)},
          {"lost_sum", to_json(test.window.lost)},
          {"sites", totals_json(test.sites, false)}};
}

std::optional<double> number(const std::optional<std::uint64_t>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

constexpr std::array<std::string_view, 12> kSiteColumns = {"syscall",          "class",  "calls",  "errors",
                                                           "kernel_ns",        "file",   "line",   "function",
                                                           "line_in_function", "module", "offset", "unknown"};

std::vector<std::string_view> columns(std::string_view first, bool has_tests) {
  std::vector<std::string_view> all = {first};
  all.insert(all.end(), kSiteColumns.begin(), kSiteColumns.end());
  if (has_tests) all.emplace_back("tests");
  return all;
}

void add_cells(render::CsvWriter& csv, const SiteTotal& one) {
  const model::Site& site = one.site;
  csv.cell(one.syscall).cell(one.classes);
  csv.number(number(one.calls)).number(number(one.errors)).number(number(one.kernel_ns));
  csv.cell(site.file).number(site.has_line() ? number(site.line) : std::nullopt).cell(site.function);
  csv.number(number(site.line_in_function)).cell(site.module).number(number(site.offset)).cell(site.unknown);
}

}  // namespace

Json causes_json(const std::vector<Cause>& causes) {
  Json out = Json::array();
  for (const Cause& cause : causes) {
    Json tests = Json::array();
    for (const judge::Comparison* test : cause.tests) tests.push_back(test->name);
    out.push_back(
        {{"what", cause.what}, {"site", cause.site ? site_json(*cause.site) : Json()}, {"tests", std::move(tests)}});
  }
  return out;
}

Json site_json(const model::Site& site) {
  const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
  return {{"file", text(site.file)},         {"line", site.has_line() ? Json(site.line) : Json(nullptr)},
          {"function", text(site.function)}, {"line_in_function", to_json(site.line_in_function)},
          {"module", text(site.module)},     {"offset", to_json(site.offset)},
          {"unknown", text(site.unknown)}};
}

std::string show_where_json(const model::Dataset& data, const std::vector<SitedTest>& tests) {
  Json list = Json::array();
  for (const SitedTest& test : tests) list.push_back(test_json(test));
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "show"},
                       {"run", render::source_json(data)},
                       {"tests", std::move(list)}});
}

std::string show_where_csv(const std::vector<SitedTest>& tests) {
  render::CsvWriter csv(columns("test", false));
  for (const SitedTest& test : tests) {
    for (const SiteTotal& one : test.sites) {
      csv.cell(test.window.name);
      add_cells(csv, one);
      csv.end_row();
    }
  }
  return csv.text();
}

std::string summary_where_json(const std::vector<SitedRun>& runs) {
  Json sources = Json::array();
  Json sites = Json::array();
  for (const SitedRun& run : runs) {
    sources.push_back(render::source_json(run.data));
    for (Json& one : totals_json(run.sites, true)) {
      one["run"] = run.data.name;
      sites.push_back(std::move(one));
    }
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "summary"},
                       {"runs", std::move(sources)},
                       {"sites", std::move(sites)}});
}

std::string summary_where_csv(const std::vector<SitedRun>& runs) {
  render::CsvWriter csv(columns("run", true));
  for (const SitedRun& run : runs) {
    for (const SiteTotal& one : run.sites) {
      csv.cell(run.data.name);
      add_cells(csv, one);
      csv.number(static_cast<double>(one.tests)).end_row();
    }
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
