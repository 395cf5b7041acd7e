// SPDX-License-Identifier: MIT
//
// groups for machines: all groups with their tests in JSON, and a line for each test in CSV.

#include <utility>

#include "commands/groups/groups.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using groups::Grouping;
using render::Json;

Json calls_json(const std::vector<groups::Calls>& calls) {
  Json list = Json::array();
  for (const groups::Calls& one : calls) {
    list.push_back({{"syscall", one.syscall}, {"calls", render::to_json(one.calls)}});
  }
  return list;
}

Json grouping_json(const Grouping& grouping) {
  Json list = Json::array();
  for (const groups::Group& group : grouping.groups) {
    list.push_back({{"group", group.name},
                    {"calls", render::to_json(group.calls)},
                    {"share_of_calls", group.share_of_calls},
                    {"difference", group.difference},
                    {"typical", calls_json(group.typical)},
                    {"tests", group.windows}});
  }
  Json fixtures = Json::array();
  for (const groups::Fixture& fixture : grouping.fixtures) {
    fixtures.push_back({{"fixture", fixture.name},
                        {"program", fixture.program},
                        {"common_calls", render::to_json(fixture.common_calls)},
                        {"share_of_calls", fixture.share_of_calls},
                        {"common", calls_json(fixture.common)},
                        {"tests", fixture.windows}});
  }
  Json left_out = Json::array();
  for (const groups::LeftOut& one : grouping.left_out)
    left_out.push_back({{"test", one.window}, {"reason", one.reason}});
  return {
      {"tests", grouping.tests},
      {"calls", render::to_json(grouping.calls)},
      {"silhouette", grouping.reason.empty() && !grouping.groups.empty() ? Json(grouping.silhouette) : Json(nullptr)},
      {"silhouette_by_chance", grouping.silhouette_by_chance > 0 ? Json(grouping.silhouette_by_chance) : Json(nullptr)},
      {"reason", grouping.reason},
      {"groups", std::move(list)},
      {"alone", grouping.alone},
      {"quiet", {{"calls", render::to_json(grouping.quiet_calls)}, {"tests", grouping.quiet}}},
      {"left_out", std::move(left_out)},
      {"fixtures", std::move(fixtures)}};
}

}  // namespace

std::string groups_json(const std::vector<GroupedRun>& runs) {
  Json list = Json::array();
  for (const GroupedRun& run : runs) {
    Json one = {{"run", render::source_json(run.data)}};
    one.update(grouping_json(run.grouping));
    list.push_back(std::move(one));
  }
  return render::dump({{"schema_version", render::kJsonVersion}, {"command", "groups"}, {"runs", std::move(list)}});
}

std::string groups_csv(const std::vector<GroupedRun>& runs) {
  render::CsvWriter csv({"run", "test", "status", "group"});
  for (const GroupedRun& run : runs) {
    const auto line = [&](const std::string& test, std::string_view status, std::string_view group) {
      csv.cell(run.data.name).cell(test).cell(status).cell(group).end_row();
    };
    for (const groups::Group& group : run.grouping.groups) {
      for (const std::string& test : group.windows) line(test, "grouped", group.name);
    }
    for (const std::string& test : run.grouping.alone) line(test, "alone", "");
    for (const std::string& test : run.grouping.quiet) line(test, "quiet", "");
    for (const groups::LeftOut& one : run.grouping.left_out) line(one.window, "left_out", "");
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
