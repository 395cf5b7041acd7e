// SPDX-License-Identifier: MIT
//
// The critical path for machines: times in nanoseconds from the begin of the test.

#include <optional>
#include <string_view>

#include "commands/critical_path/critical_path.h"
#include "render/json.h"
#include "render/numbers.h"

namespace syscost::bench::commands {
namespace {

using render::Json;
using trace::PathStep;
using trace::Waker;
using StepKind = trace::PathStep::Kind;

std::string_view word(StepKind kind) {
  switch (kind) {
    case StepKind::runs:
      return "runs";
    case StepKind::preempted:
      return "preempted";
    case StepKind::waits:
      return "waits_for_cpu";
    case StepKind::blocked:
      return "blocked";
    case StepKind::unknown:
      break;
  }
  return "unknown";
}

/// Empty for a step that nothing ended.
std::string_view ender_word(const PathStep& step) {
  if (step.kind != StepKind::blocked) return {};
  switch (step.ended_by) {
    case Waker::interrupt:
      return "interrupt";
    case Waker::other_process:
      return "other_process";
    case Waker::kernel_thread:
      return "kernel_thread";
    case Waker::thread:
    case Waker::unknown:
      break;
  }
  return "unknown";
}

std::string_view thread_name(const trace::SchedFile& file, std::uint32_t thread) {
  const auto name = file.names.find(thread);
  return name != file.names.end() ? std::string_view(name->second) : std::string_view();
}

Json word_json(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json step_json(const trace::SchedFile& file, const PathStep& step) {
  Json woken(nullptr);
  if (step.woken_by != 0) {
    woken = {{"thread", step.woken_by},
             {"name", word_json(thread_name(file, step.woken_by))},
             {"syscall", word_json(step.waker_call)},
             {"created", step.is_created},
             {"from_syscall", word_json(step.woken_from)}};
  }
  return {{"at_ns", step.from_ns},
          {"took_ns", step.took_ns()},
          {"thread", step.thread},
          {"name", word_json(thread_name(file, step.thread))},
          {"what", word(step.kind)},
          {"syscall", word_json(step.call)},
          {"ended_by", word_json(ender_word(step))},
          {"woken_by", std::move(woken)}};
}

}  // namespace

std::string path_csv(const ShownPath& shown) {
  render::CsvWriter csv({"at_ns", "took_ns", "thread", "name", "what", "syscall", "ended_by", "woken_by_thread",
                         "woken_by_syscall", "woken_from_syscall"});
  for (const PathStep* step : shown.listed) {
    csv.number(static_cast<double>(step->from_ns)).number(static_cast<double>(step->took_ns()));
    csv.number(static_cast<double>(step->thread)).cell(thread_name(shown.file, step->thread));
    csv.cell(word(step->kind)).cell(step->call).cell(ender_word(*step));
    csv.number(step->woken_by != 0 ? std::optional(static_cast<double>(step->woken_by)) : std::nullopt);
    csv.cell(step->waker_call).cell(step->woken_from).end_row();
  }
  return csv.text();
}

std::string path_json(const ShownPath& shown) {
  Json steps = Json::array();
  for (const PathStep* step : shown.listed) steps.push_back(step_json(shown.file, *step));
  return render::dump({{"schema_version", render::kJsonVersion},
                       {"command", "trace"},
                       {"file", shown.file.path},
                       {"wall_ns", shown.file.wall_ns},
                       {"events_lost", shown.file.lost},
                       {"missing_at", shown.path.contradictions},
                       {"step_count", shown.path.steps.size()},
                       {"critical_path", std::move(steps)}});
}

}  // namespace syscost::bench::commands
