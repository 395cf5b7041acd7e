// SPDX-License-Identifier: MIT
#include "commands/groups.h"

#include <ostream>
#include <utility>

#include "commands/chosen_tests.h"
#include "csv/printable.h"
#include "csv/problems.h"
#include "model/group.h"
#include "model/loader.h"
#include "render/size_cap.h"
#include "stats/window_stream.h"

namespace syscost::bench::commands {

int groups_run(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  model::LoadOptions load = load_options_of(options);
  csv::Problems problems;
  std::vector<GroupedRun> runs;
  for (const std::string& path : options.runs) {
    GroupedRun run{model::load(path, load, problems), {}};
    const std::vector<model::Group> windows = model::group_samples(run.data, model::Tools::left_out);
    if (windows.empty()) {
      note_no_test(run.data, load.tests, problems);
      continue;
    }
    groups::Behaviours behaviours;
    stats::for_each_summary(run.data, windows, false,
                            [&](std::size_t, stats::WindowSummary&& window) { behaviours.add(window); });
    run.grouping = groups::group_tests(behaviours);
    if (run.grouping.tests == 0 && run.grouping.left_out.empty()) {
      problems.print(err);
      err << "bench: " << csv::printable(run.data.name) << " has no tests; only tests are grouped\n"
          << "`bench summary` shows benchmarks, loops and whole commands.\n";
      return cli::kExitBadInput;
    }
    runs.push_back(std::move(run));
  }
  std::string text;
  switch (options.format) {
    case cli::Format::json:
      if (!runs.empty()) out << groups_json(runs);
      break;
    case cli::Format::csv:
      if (!runs.empty()) out << groups_csv(runs);
      break;
    case cli::Format::md:
      for (const GroupedRun& run : runs) text += (text.empty() ? "" : "\n") + groups_markdown(run, options);
      // GitHub takes 1 MiB for the summary of a step.
      if (!text.empty()) out << render::capped_markdown(text, options.max_bytes == 0 ? 1'000'000 : options.max_bytes);
      break;
    case cli::Format::text:
      for (const GroupedRun& run : runs) text += (text.empty() ? "" : "\n") + groups_text(run, options, paint);
      out << text;
      break;
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
