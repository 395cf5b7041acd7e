// SPDX-License-Identifier: MIT
//
// log for machines: every run, with its step or without.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/compare/compare_machine.h"
#include "commands/log/log.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using judge::HistoryRun;
using render::Json;

Json text_json(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json change_json(const std::optional<judge::ChangePoint>& change) {
  if (!change) return nullptr;
  return {{"before", render::to_json(change->before)}, {"after", render::to_json(change->after)}};
}

template <class Run>
Json run_head(const model::Dataset& data, const Run& run) {
  const model::Context& context = *run.context;
  return {{"run_id", text_json(data.text(run.run_id))},       {"started_at", text_json(data.text(context.started_at))},
          {"label", text_json(data.text(context.label))},     {"commit", text_json(data.text(context.commit))},
          {"backend", text_json(data.text(context.backend))}, {"file", data.files[context.file]}};
}

/// The same for CSV: its columns, and the cells.
constexpr std::array<std::string_view, 6> kRunHead = {"run_id", "started_at", "label", "commit", "backend", "file"};

template <class Run>
void add_run_head(const model::Dataset& data, const Run& run, render::CsvWriter& csv) {
  const model::Context& context = *run.context;
  for (const model::NameId id : {run.run_id, context.started_at, context.label, context.commit, context.backend}) {
    csv.cell(data.text(id));
  }
  csv.cell(data.files[context.file]);
}

std::vector<std::string_view> run_columns(std::vector<std::string_view> before,
                                          const std::vector<std::string_view>& after) {
  before.insert(before.end(), kRunHead.begin(), kRunHead.end());
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

Json run_json(const TestLog& log, const HistoryRun& run) {
  Json out = run_head(*log.data, run);
  if (!run.window) {
    out["repetitions"] = 0;
    return out;
  }
  Json outcomes = Json::object();
  for (const auto& [outcome, times] : run.window->outcomes) outcomes[std::string(outcome)] = times;
  out["repetitions"] = run.window->n;
  out["outcomes"] = std::move(outcomes);
  out["per_iteration"] = run.window->is_per_iteration;
  out["calls"] = render::to_json(run.window->calls);
  out["entries"] = render::to_json(run.window->entries);
  out["errors"] = render::to_json(run.window->errors);
  out["filter"] = run.window->counted_everything() ? Json(nullptr) : Json(stats::filter_text(*run.window));
  out["lost_sum"] = render::to_json(run.window->lost);
  out["wall_ns"] = render::to_json(run.window->wall_ns);
  out["cpu_ns"] = render::to_json(run.window->cpu_ns);
  out["step"] = run.step ? comparison_json(*run.step) : Json(nullptr);
  out["wall_step_ns"] = change_json(run.wall_step);
  out["cpu_step_ns"] = change_json(run.cpu_step);
  return out;
}

}  // namespace

std::string log_json(const TestLog& log) {
  Json runs = Json::array();
  for (const HistoryRun& run : log.runs) runs.push_back(run_json(log, run));
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "log"},
                       {"test", log.test},
                       {"count_rules", text_json(log.count_rules)},
                       {"runs", std::move(runs)}});
}

std::string log_json(const CauseLog& log) {
  Json runs = Json::array();
  for (const LoggedRun& run : log.runs) {
    Json one = run_head(log.data, run);
    one["entered"] = causes_json(run.entered);
    one["left"] = causes_json(run.left);
    one["in_doubt"] = run.in_doubt;
    one["not_compared"] = text_json(run.not_compared);
    runs.push_back(std::move(one));
  }
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "log"},
                       {"test", nullptr},
                       {"count_rules", text_json(log.count_rules)},
                       {"runs", std::move(runs)}});
}

std::string log_csv(const TestLog& log) {
  render::CsvWriter csv(run_columns({"test"}, {"repetitions", "outcomes", "per_iteration", "calls", "entries", "errors",
                                               "wall_ns", "cpu_ns", "step"}));
  for (const HistoryRun& run : log.runs) {
    csv.cell(log.test);
    add_run_head(*log.data, run, csv);
    if (!run.window) {
      csv.number(0.0).cell("").cell("");
      for (int i = 0; i < 5; ++i) csv.number(std::nullopt);
      csv.cell("").end_row();
      continue;
    }
    std::vector<std::string> outcomes;
    for (const auto& [outcome, times] : run.window->outcomes) outcomes.push_back(fmt::format("{}:{}", outcome, times));
    csv.number(static_cast<double>(run.window->n)).cell(fmt::format("{}", fmt::join(outcomes, " ")));
    csv.number(run.window->is_per_iteration ? 1.0 : 0.0);
    for (const stats::Numbers* numbers :
         {&run.window->calls, &run.window->entries, &run.window->errors, &run.window->wall_ns, &run.window->cpu_ns}) {
      csv.number(render::median(*numbers));
    }
    csv.cell(fmt::format("{}", fmt::join(step_lines(run), "; "))).end_row();
  }
  return csv.text();
}

std::string log_csv(const CauseLog& log) {
  render::CsvWriter csv(run_columns({}, {"change", "what", "site", "tests"}));
  for (const LoggedRun& run : log.runs) {
    for (const auto& [word, causes] : {std::pair("entered", &run.entered), std::pair("left", &run.left)}) {
      for (const Cause& cause : *causes) {
        add_run_head(log.data, run, csv);
        csv.cell(word).cell(cause.what).cell(cause.site ? model::text_of(*cause.site) : "");
        csv.number(static_cast<double>(cause.tests.size())).end_row();
      }
    }
  }
  return csv.text();
}

}  // namespace syscost::bench::commands
