// SPDX-License-Identifier: MIT
//
// log for machines: every run, with its step or without.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/comparison_json.h"
#include "commands/log.h"
#include "render/csv_writer.h"
#include "render/json.h"

namespace syscost::bench::commands {
namespace {

using render::Json;
using stats::HistoryRun;

Json text_json(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json change_json(const std::optional<stats::ChangePoint>& change) {
  if (!change) return nullptr;
  return {{"before", render::to_json(change->before)}, {"after", render::to_json(change->after)}};
}

Json run_json(const TestLog& log, const HistoryRun& run) {
  const model::Context& context = *run.context;
  Json out = {{"run_id", text_json(log.data->text(run.run_id))},
              {"started_at", text_json(log.data->text(context.started_at))},
              {"label", text_json(log.data->text(context.label))},
              {"commit", text_json(log.data->text(context.commit))},
              {"backend", text_json(log.data->text(context.backend))},
              {"file", log.data->files[context.file]}};
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
  return render::dump(
      {{"schema_version", render::kJsonVersion}, {"command", "log"}, {"test", log.test}, {"runs", std::move(runs)}});
}

std::string log_csv(const TestLog& log) {
  render::CsvWriter csv({"test", "run_id", "started_at", "label", "commit", "backend", "file", "repetitions",
                         "outcomes", "per_iteration", "calls", "entries", "errors", "wall_ns", "cpu_ns", "step"});
  for (const HistoryRun& run : log.runs) {
    const model::Context& context = *run.context;
    csv.cell(log.test).cell(log.data->text(run.run_id)).cell(log.data->text(context.started_at));
    csv.cell(log.data->text(context.label)).cell(log.data->text(context.commit));
    csv.cell(log.data->text(context.backend)).cell(log.data->files[context.file]);
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

}  // namespace syscost::bench::commands
