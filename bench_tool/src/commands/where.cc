// SPDX-License-Identifier: MIT
#include "commands/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "commands/chosen_tests.h"
#include "commands/run_line.h"
#include "csv/printable.h"
#include "csv/problems.h"
#include "model/group.h"
#include "model/loader.h"
#include "render/size_cap.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

/// True for windows that may be added up. Calls of a scope are also calls of its test, and tools count what syscost
/// counts.
bool adds_up(const model::Dataset& data, const model::Group& group) {
  return data.text(group.kind) != "scope" && data.text(group.kind) != schema::kKindGpuKernel &&
         data.text(group.origin) == schema::kOriginSyscost;
}

}  // namespace

std::string no_sites_text(const model::Dataset& data) {
  return fmt::format(
      "bench: {} does not say which lines make the calls: it was measured without --syscost_where\n"
      "Measure it again with `--syscost_where` (a test program) or `bench run --where`. It needs the backend dispatch "
      "or "
      "dispatch-trap: `--syscost_backend dispatch`.\n",
      csv::printable(data.name));
}

std::string site_key(const cli::Options& options) {
  const bool is_key = options.sort == "calls" || options.sort == "errors" || options.sort == "name";
  return is_key ? options.sort : "kernel";
}

std::size_t most_sites(const cli::Options& options, std::size_t lines_around) {
  constexpr std::size_t kFewest = 5;
  // --top of show without TEST is a number of tests.
  if (options.top && !(options.command == cli::Command::show && options.test.empty())) return *options.top;
  if (options.screen.height == 0) return 0;
  return std::max(options.screen.height, lines_around + kFewest) - lines_around;
}

int summary_where(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  model::LoadOptions load_options = load_options_of(options);
  load_options.keep_sites = true;
  std::vector<SitedRun> runs;
  bool lacks_sites = false;
  for (const std::string& path : options.runs) {
    SitedRun run;
    run.data = model::load(path, load_options, problems);
    const std::vector<model::Group> groups = model::group_samples(run.data);
    if (groups.empty()) {
      note_no_test(run.data, load_options.tests, problems);
      continue;
    }
    if (!run.data.has_sites) {
      err << no_sites_text(run.data);
      lacks_sites = true;
      continue;
    }
    stats::SiteTotals totals(run.data);
    for (const model::Group& group : groups) {
      const std::string& kind = run.data.text(group.kind);
      run.tests += kind == "test" || kind == "benchmark" ? 1 : 0;
      if (adds_up(run.data, group)) totals.add(group, {});
    }
    run.sites = totals.all();
    stats::sort_sites(run.sites, site_key(options));
    run.source = run_line(run.data);
    runs.push_back(std::move(run));
  }
  switch (options.format) {
    case cli::Format::json:
      if (!runs.empty()) out << summary_where_json(runs);
      break;
    case cli::Format::csv:
      if (!runs.empty()) out << summary_where_csv(runs);
      break;
    default: {
      std::string text;
      for (const SitedRun& run : runs) text += (text.empty() ? "" : "\n") + summary_where_text(run, options, paint);
      const std::size_t most = options.max_bytes == 0 ? 1'000'000 : options.max_bytes;
      out << (options.format == cli::Format::md ? render::capped_markdown(text, most) : text);
    }
  }
  problems.print(err);
  return problems.empty() && !lacks_sites ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
