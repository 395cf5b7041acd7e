// SPDX-License-Identifier: MIT
#include "fuzz_sched.h"

#include <optional>
#include <string>

#include "commands/critical_path/critical_path.h"
#include "require.h"
#include "trace/critical_path.h"

namespace syscost::bench::fuzz {
namespace {

using syscost::fuzz::require;

}  // namespace

void read_any_sched(const std::uint8_t* data, std::size_t size) {
  csv::Problems problems;
  const std::string content(reinterpret_cast<const char*>(data), size);
  const std::optional<trace::SchedFile> file = trace::parse_sched_file("sched.csv", content, problems);
  require(file.has_value() == problems.empty(), "a damaged file is a problem, and only that");
  if (!file) return;
  const trace::CriticalPath path = trace::critical_path(*file);
  std::uint64_t end_ns = 0;
  commands::ShownPath shown{"Any.Test", *file, path, {}};
  for (const trace::PathStep& step : path.steps) {
    require(step.from_ns == end_ns && step.from_ns < step.to_ns, "steps have no gap, and none is empty");
    end_ns = step.to_ns;
    shown.listed.push_back(&step);
  }
  require(end_ns == file->wall_ns, "steps add up to the wall time");
  for (const trace::PathStep& step : trace::all_threads(*file)) {
    require(step.from_ns < step.to_ns && step.to_ns <= file->wall_ns, "what a thread did lies in the window");
  }
  constexpr std::size_t kNarrow = 40;
  (void)commands::path_text(shown, render::Paint(true), kNarrow);
  (void)commands::path_svg(shown);
  (void)commands::path_csv(shown);
  (void)commands::path_json(shown);
}

}  // namespace syscost::bench::fuzz
