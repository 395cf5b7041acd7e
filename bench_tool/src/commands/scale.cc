// SPDX-License-Identifier: MIT
#include "commands/scale.h"

#include <ostream>
#include <utility>

#include "commands/chosen_tests.h"
#include "csv/all_files.h"
#include "csv/printable.h"
#include "csv/problems.h"
#include "model/group.h"
#include "model/loader.h"
#include "render/size_cap.h"

namespace syscost::bench::commands {
namespace {

model::LoadOptions load_options(const cli::Options& options) {
  model::LoadOptions load;
  load.folders = options.folders;
  load.all_runs = options.all_runs || options.scales_by_label;
  load.is_history = options.scales_by_label;
  load.is_printable = options.is_printable();
  load.tests = model::TestChoice(options.tests);
  if (!options.run_ids.empty()) load.run_id = options.run_ids.front();
  return load;
}

/// The RUN arguments as datasets: one each; with --label all runs of all of them in one.
std::vector<ScaledRun> load_scaled_runs(const cli::Options& options, csv::Problems& problems) {
  const model::LoadOptions load = load_options(options);
  std::vector<ScaledRun> runs;
  if (!options.scales_by_label) {
    for (const std::string& path : options.runs) runs.push_back({model::load(path, load, problems), {}});
    return runs;
  }
  csv::Run all{options.runs.front(), false, {}};
  csv::add_files(all, options.runs, options.folders, problems);
  runs.push_back({model::load(std::move(all), load, problems), {}});
  return runs;
}

const char* how_to_get_families(bool by_label) {
  return by_label ? "Give runs with --syscost_label size=64, --syscost_label size=128, ... of one program.\n"
                  : "Tests are of one family if only numbers in their names differ: BM_Copy/64, BM_Copy/128 or "
                    "Sizes/Copy.Works/4096. For runs with labels size=64, size=128, ... give --label.\n";
}

}  // namespace

int scale_run(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  std::vector<ScaledRun> runs;
  for (ScaledRun& run : load_scaled_runs(options, problems)) {
    const std::vector<model::Group> groups = model::group_samples(run.data, model::Tools::left_out);
    if (groups.empty()) {
      note_no_test(run.data, model::TestChoice(options.tests), problems);
      continue;
    }
    run.families = scale::families_of(run.data, groups, {options.scales_by_label, true});
    if (run.families.empty()) {
      problems.print(err);
      err << "bench: " << csv::printable(run.data.name) << " has no family of tests with different sizes\n"
          << how_to_get_families(options.scales_by_label);
      return cli::kExitBadInput;
    }
    runs.push_back(std::move(run));
  }
  std::string text;
  switch (options.format) {
    case cli::Format::json:
      if (!runs.empty()) out << scale_json(runs);
      break;
    case cli::Format::csv:
      if (!runs.empty()) out << scale_csv(runs);
      break;
    case cli::Format::md:
      for (const ScaledRun& run : runs) text += (text.empty() ? "" : "\n") + scale_markdown(run);
      // GitHub takes 1 MiB for the summary of a step.
      if (!text.empty()) out << render::capped_markdown(text, options.max_bytes == 0 ? 1'000'000 : options.max_bytes);
      break;
    case cli::Format::text:
      for (const ScaledRun& run : runs) text += (text.empty() ? "" : "\n") + scale_text(run, options, paint);
      out << text;
      break;
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
