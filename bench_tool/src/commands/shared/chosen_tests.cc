// SPDX-License-Identifier: MIT
#include "commands/shared/chosen_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <utility>

#include "commands/shared/run_notes.h"
#include "commands/shared/summary_overview.h"
#include "csv/text.h"
#include "model/choice.h"
#include "model/incomplete_run.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"
#include "syscost/schema.h"

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

namespace {

/// The part of `test` that the names of tool rows and of our rows share.
std::string without_origin(std::string test) {
  const std::string mark = fmt::format(" [{}]", schema::kOriginBpftrace);
  if (const std::size_t at = test.find(mark); at != std::string::npos) test.erase(at, mark.size());
  return test;
}

/// True if what `test` means was found by a program's name, so that windows of the same name in others count.
bool is_found_by_program(const NamedTest& named, const std::string& test) {
  const std::string wanted = csv::printable(test);
  if (wanted.find(" (") != std::string::npos) return false;  // may_be_meant() sees to it
  const std::vector<const model::Group*> found = find_test(named.data, named.groups, test);
  return std::any_of(found.begin(), found.end(), [&](const model::Group* group) {
    return csv::printable(model::base_name(named.data, *group)).find(wanted) == std::string::npos;
  });
}

}  // namespace

NamedTest load_named(csv::Run run, model::LoadOptions options, const std::string& test, csv::Problems& problems) {
  std::vector<std::string> paths;
  for (const csv::Input& input : run.files) paths.push_back(input.path());
  const auto load = [&](csv::Run files, csv::Problems& into) {
    NamedTest named{model::load(std::move(files), options, into), {}};
    named.groups = model::group_samples(named.data);
    return named;
  };
  const auto load_again = [&] {
    options.only_test_part = false;
    csv::Run again{run.name, run.is_folder, {}};
    for (const std::string& path : paths) again.files.emplace_back(path);
    csv::Problems noted;
    return load(std::move(again), noted);
  };
  options.test_part = without_origin(test);
  options.only_test_part = true;
  csv::Run first{run.name, run.is_folder, std::move(run.files)};
  NamedTest named = load(std::move(first), problems);
  if (!named.data.is_partial) return named;
  if (find_test(named.data, named.groups, test).empty()) {
    options.keep_histograms = options.keep_rows = false;
    return load_again();
  }
  return is_found_by_program(named, test) ? load_again() : std::move(named);
}

std::vector<const model::Group*> find_test(const model::Dataset& data, const std::vector<model::Group>& groups,
                                           const std::string& asked) {
  // The name as bench prints it, or as the file has it.
  const std::string wanted = csv::printable(asked);
  std::vector<const model::Group*> exact;
  std::vector<const model::Group*> partial;
  for (const model::Group& group : groups) {
    const std::string full = csv::printable(model::full_name(data, group));
    if (full == wanted || csv::printable(model::base_name(data, group)) == wanted) exact.push_back(&group);
    if (full.find(wanted) != std::string::npos) partial.push_back(&group);
  }
  std::vector<const model::Group*>& found = exact.empty() ? partial : exact;
  std::erase_if(found, [&](const model::Group* group) {
    return group->owner && std::find(found.begin(), found.end(), &groups[*group->owner]) != found.end();
  });
  // The rows of a tool are shown with their window, which comes before them.
  std::vector<const model::Group*> windows;
  for (const model::Group* group : found) {
    const bool is_there = std::any_of(windows.begin(), windows.end(),
                                      [&](const model::Group* other) { return model::is_same_window(*group, *other); });
    if (!is_there) windows.push_back(group);
  }
  return windows;
}

void prefer_tests(const model::Dataset& data, std::vector<const model::Group*>& found) {
  const auto is_test = [&](const model::Group* group) {
    return group->is_test(data) || data.text(group->kind) == "benchmark";
  };
  if (std::count_if(found.begin(), found.end(), is_test) == 1) std::erase_if(found, std::not_fn(is_test));
}

void print_candidates(const NamedTest& named, const std::vector<const model::Group*>& found, const std::string& wanted,
                      const char* command, std::ostream& err) {
  constexpr std::size_t kMostNamed = 20;
  const bool is_ambiguous = !found.empty();
  const std::vector<const model::Group*> candidates = is_ambiguous ? found : find_test(named.data, named.groups, "");
  std::vector<std::string> names;
  for (const model::Group* one : candidates) names.push_back(csv::printable(model::display_name(named.data, *one)));
  if (wanted.empty()) {
    err << "bench: " << command << " needs a TEST, its name or a part that only one test has; there are\n";
  } else if (is_ambiguous) {
    err << "bench: several tests match \"" << csv::printable(wanted) << "\"; which one?\n";
  } else {
    const std::string question = model::did_you_mean(wanted, names);
    err << "bench: no test matches \"" << csv::printable(wanted) << "\"; " << (question.empty() ? "" : question + " ")
        << (question.empty() ? "there" : "There") << " are\n";
  }
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) err << "  " << names[i] << '\n';
  if (names.size() > kMostNamed) err << "  and " << names.size() - kMostNamed << " more\n";
}

}  // namespace syscost::bench::commands
