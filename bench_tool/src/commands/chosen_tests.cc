// SPDX-License-Identifier: MIT
#include "commands/chosen_tests.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/crashed.h"
#include "commands/summary_overview.h"
#include "model/shards.h"
#include "model/suggestion.h"
#include "stats/window_stream.h"

namespace syscost::bench::commands {

using model::Group;

std::vector<Group> ordered_groups(const model::Dataset& data, const std::vector<Group>& groups, const std::string& key,
                                  std::size_t top) {
  struct Block {
    std::size_t begin;
    OverviewLine line;
  };
  std::vector<Block> blocks;
  if (key == "file") {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (!groups[i].owner) blocks.push_back({i, {}});
    }
  } else {
    stats::for_each_summary(data, groups, false, [&](std::size_t i, stats::WindowSummary&& window) {
      if (!groups[i].owner) blocks.push_back({i, overview_line(window)});
    });
    std::stable_sort(blocks.begin(), blocks.end(),
                     [&](const Block& a, const Block& b) { return comes_first(a.line, b.line, key); });
  }
  if (top != 0 && blocks.size() > top) blocks.resize(top);
  std::vector<Group> out;
  for (const Block& block : blocks) {
    const std::size_t owner = out.size();
    out.push_back(groups[block.begin]);
    for (std::size_t i = block.begin + 1; i < groups.size() && groups[i].owner == block.begin; ++i) {
      out.push_back(groups[i]);
      out.back().owner = owner;
    }
  }
  return out;
}

model::LoadOptions load_options_of(const cli::Options& options) {
  model::LoadOptions load;
  load.folders = options.folders;
  load.all_runs = options.all_runs;
  load.is_printable = options.is_printable();
  load.tests = model::TestChoice(options.tests);
  if (!options.run_ids.empty()) load.run_id = options.run_ids.front();
  return load;
}

void note_no_test(const model::Dataset& data, const model::TestChoice& tests, csv::Problems& problems) {
  if (!data.samples.empty()) return;
  const std::size_t problems_before = problems.count();
  note_crashes(data, problems);
  if (data.left_out_tests.empty()) {
    // A shard's file has a row of its own even then.
    if (const std::string shard = model::shards_text(data); !shard.empty()) {
      problems.add(data.name, 0, fmt::format("has {}, and no test fell into it; give the files of the others", shard));
    } else if (!data.runs.empty() && problems.count() == problems_before) {
      problems.add(data.name, 0, "its programs came to their end, and none of their tests ran: no test was measured");
    }
    return;
  }
  const std::string question = model::did_you_mean(tests.text(), data.left_out_tests);
  problems.add(
      data.name, 0,
      fmt::format("no test matches \"{}\"; {}", tests.text(),
                  question.empty() ? fmt::format("it holds {} others; a pattern stands for the whole name, with "
                                                 "* for any text",
                                                 data.left_out_tests.size())
                                   : question));
}

}  // namespace syscost::bench::commands
