// SPDX-License-Identifier: MIT
//
// A sweep for machines: all failures in JSON and CSV, those to look at as GitHub's workflow commands.

#include <string_view>
#include <utility>

#include "commands/faults/faults.h"
#include "csv/text.h"
#include "model/test_locations.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using faults::Done;
using render::Json;

// SARIF and the annotations of GitHub name these.
constexpr render::CiRule kRules[] = {
    {"crashed", "A failed syscall ends the program by a signal"},
    {"hung", "The program does not end after a failed syscall"},
    {"leaked", "A passing test leaves descriptors open after a failed syscall"},
    {"exited", "The program ends after a failed syscall"},
    {"ignored", "A test passes, and makes the same calls as ever, although data may be lost"},
};

}  // namespace

std::string sweep_json(const faults::SweepState& state) {
  Json failures = Json::array();
  for (const auto& [index, done] : state.done) {
    failures.push_back({{"test", state.tests[done.failure.test].name},
                        {"syscall", done.failure.syscall},
                        {"nth", done.failure.nth},
                        {"errno", done.failure.error},
                        {"site", site_of(done)},
                        {"outcome", std::string(faults::word_of(done.result.outcome))},
                        {"detail", done.result.detail},
                        {"child", done.result.child},
                        {"wall_ns", done.result.wall_ns},
                        {"processes_left", done.result.processes_left},
                        {"again", again(state, done)},
                        {"output", done.result.output}});
  }
  Json tests = Json::array();
  for (const faults::LearnedTest& test : state.tests) {
    tests.push_back({{"test", test.name},
                     {"wall_ns", test.wall_ns},
                     {"same_calls_each_time", test.is_steady},
                     {"not_swept", test.why_left_out.empty() ? Json(nullptr) : Json(test.why_left_out)}});
  }
  const SweepTable table = table_of(state);
  Json counts = Json::object();
  for (std::size_t i = 0; i < faults::kOutcomes; ++i) counts[std::string(faults::kOutcomeWords[i])] = table.counts[i];
  const faults::PlanSize plan = state.plan.value_or(faults::PlanSize());
  Json without_error = Json::array();
  for (const auto& [syscall, calls] : plan.not_in_list) {
    without_error.push_back({{"syscall", syscall}, {"calls", calls}});
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "faults"},
                       {"program", state.identity.command},
                       {"options", state.identity.options},
                       {"planned", state.plan ? Json(plan.failures) : Json(nullptr)},
                       {"left_out_by_sample", plan.left_out},
                       {"left_out_later_calls", plan.other_calls},
                       {"not_in_list", std::move(without_error)},
                       {"outcomes", std::move(counts)},
                       {"harm", state.harm},
                       {"tests", std::move(tests)},
                       {"failures", std::move(failures)}});
}

std::string sweep_csv(const faults::SweepState& state) {
  render::CsvWriter csv(
      {"test", "syscall", "nth", "errno", "site", "outcome", "detail", "wall_ns", "processes_left", "child"});
  for (const auto& [index, done] : state.done) {
    csv.cell(csv::printable(state.tests[done.failure.test].name)).cell(done.failure.syscall);
    csv.number(static_cast<double>(done.failure.nth)).cell(done.failure.error).cell(csv::printable(site_of(done)));
    csv.cell(faults::word_of(done.result.outcome)).cell(csv::printable(done.result.detail));
    csv.number(static_cast<double>(done.result.wall_ns)).number(static_cast<double>(done.result.processes_left));
    csv.cell(done.result.child);
    csv.end_row();
  }
  return csv.text();
}

render::CiReport sweep_ci(const faults::SweepState& state, const model::TestLocations& locations) {
  const SweepTable table = table_of(state);
  render::CiReport report{"bench faults", kRules, {}, {}, sweep_title(state, table)};
  report.level = "warning";
  for (const std::string& line : sweep_remarks(state, table)) report.totals += "; " + line;
  for (const AlikeFailures& alike : table.alike) {
    const auto rule = static_cast<std::size_t>(alike.outcome);
    if (rule >= std::size(kRules)) continue;
    const Done& first = *alike.all.front();
    const std::string test = csv::printable(state.tests[first.failure.test].name);
    render::CiCase line{test, "", test, locations.find(test), {}, {}, {}};
    std::string text = outcome_text(alike) + ": " + faults::failure_text(alike.syscall, alike.error) +
                       ". Again: " + again(state, first);
    line.failures.push_back({kRules[rule].id, csv::printable(text), model::location_of_site(alike.site)});
    report.cases.push_back(std::move(line));
  }
  return report;
}

}  // namespace syscost::bench::commands
