// SPDX-License-Identifier: MIT
//
// findings for machines: JSON, CSV, SARIF and GitHub's workflow commands.

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/findings/findings.h"
#include "findings/rules.h"
#include "model/test_locations.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using findings::Finding;
using render::Json;

const std::vector<render::CiRule>& ci_rules() {
  static const std::vector<render::CiRule> all = [] {
    std::vector<render::CiRule> list;
    // The texts of the table are literals, which end in NUL.
    for (const findings::Rule& rule : findings::rules()) list.push_back({rule.name, rule.title.data()});
    return list;
  }();
  return all;
}

/// Findings, then the notes that are to be printed.
std::vector<Finding> all_of(const FoundRun& run) {
  std::vector<Finding> all = run.found.found;
  all.insert(all.end(), run.found.notes.begin(), run.found.notes.end());
  return all;
}

std::string_view class_of(const Finding& one) {
  return one.is_note ? "note" : "finding";
}

}  // namespace

std::string findings_json(const FoundRun& run) {
  Json list = Json::array();
  for (const Finding& one : all_of(run)) {
    list.push_back({{"rule", std::string(one.rule)},
                    {"class", std::string(class_of(one))},
                    {"window", one.window},
                    {"syscall", one.syscall},
                    {"site", one.site},
                    {"evidence", one.evidence},
                    {"remedy", one.remedy},
                    {"cost_ns", one.cost_ns > 0 ? render::to_json(one.cost_ns) : Json(nullptr)}});
  }
  Json lacks = Json::array();
  for (const findings::NotChecked& one : run.found.not_checked) {
    lacks.push_back({{"rule", std::string(one.rule)}, {"reason", one.reason}, {"windows", one.windows}});
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "findings"},
                       {"run", render::source_json(run.data)},
                       {"windows", run.found.windows},
                       {"traced", run.found.traced},
                       {"hidden_notes", run.found.hidden_notes},
                       {"findings", std::move(list)},
                       {"not_checked", std::move(lacks)}});
}

std::string findings_csv(const FoundRun& run) {
  render::CsvWriter csv(
      {"run", "status", "rule", "window", "syscall", "site", "evidence", "remedy", "cost_ns", "windows"});
  for (const Finding& one : all_of(run)) {
    csv.cell(run.data.name).cell(class_of(one)).cell(one.rule).cell(one.window).cell(one.syscall).cell(one.site);
    csv.cell(one.evidence).cell(one.remedy);
    csv.number(one.cost_ns > 0 ? std::optional(one.cost_ns) : std::nullopt).number(1.0).end_row();
  }
  for (const findings::NotChecked& one : run.found.not_checked) {
    csv.cell(run.data.name).cell("not checked").cell(one.rule).cell("").cell("").cell("").cell(one.reason).cell("");
    csv.number(std::nullopt).number(static_cast<double>(one.windows)).end_row();
  }
  return csv.text();
}

render::CiReport findings_ci(const FoundRun& run, const model::TestLocations& locations) {
  render::CiReport report{"bench findings", ci_rules(), {}, not_checked_lines(run.found), findings_title(run.found)};
  report.level = "warning";
  for (const Finding& one : all_of(run)) {
    render::CiCase line{one.window, "", one.window, locations.find(one.window), {}, {}, {}};
    line.failures.push_back({one.rule, one.evidence + ". " + one.remedy, model::location_of_site(one.site)});
    line.is_note = one.is_note;
    report.cases.push_back(std::move(line));
  }
  return report;
}

}  // namespace syscost::bench::commands
