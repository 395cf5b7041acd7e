// SPDX-License-Identifier: MIT
#include "commands/show/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "commands/shared/chosen_tests.h"
#include "commands/shared/document.h"
#include "commands/where/where.h"
#include "csv/problems.h"
#include "csv/run_files.h"
#include "csv/text.h"

#ifdef SYSCOST_HAS_GPU_STAMPS
#include "gpu_stamps/show_stamps.h"
#include "gpu_stamps/stamps_reader.h"
#endif
#include "model/choice.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "render/table.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

using Part = ShownWindow;

/// First `named`, then the loops that ran in it. After each window follows what tools counted in it.
std::vector<Part> parts_of(const model::Dataset& data, const std::vector<model::Group>& groups,
                           const model::Group& named, const model::SyscallChoice& choice, csv::Problems& problems) {
  std::vector<Part> parts;
  const auto add = [&](const model::Group& group) {
    parts.push_back({stats::summarize(data, group, false), stats::latencies_of(data, group, choice, problems)});
  };
  const bool is_ours = data.text(named.origin) == schema::kOriginSyscost;
  for (const model::Group& group : groups) {
    if (&group != &named && (!group.owner || &groups[*group.owner] != &named)) continue;
    add(group);
    for (const model::Group& other : groups) {
      if (is_ours && &other != &group && model::is_same_window(other, group)) add(other);
    }
  }
  return parts;
}

/// The sites of `named` and of the loops that ran in it.
std::vector<SitedTest> sited_tests(const model::Dataset& data, const std::vector<model::Group>& groups,
                                   const model::Group& named, const model::SyscallChoice& choice,
                                   const std::string& key) {
  std::vector<SitedTest> tests;
  for (const model::Group& group : groups) {
    if (&group != &named && (!group.owner || &groups[*group.owner] != &named)) continue;
    stats::SiteTotals totals(data);
    totals.add(group, choice);
    tests.push_back({stats::summarize(data, group, false), totals.all()});
    stats::sort_sites(tests.back().sites, key);
  }
  return tests;
}

/// The message if no test made a call that SYSCALL selects. `first`: the first of them.
void print_made(const stats::WindowSummary& first, const std::string& asked, const std::set<std::string_view>& made,
                std::ostream& err) {
  std::string all = made.empty() ? stats::no_calls_text(first) : fmt::format("{}", fmt::join(made, ", "));
  if (!made.empty() || all.starts_with("no ")) all.insert(0, "it made ");
  const std::string among = first.counted_everything() ? "" : " among the counted calls, " + stats::filter_text(first);
  err << csv::printable(fmt::format("bench: {} made no {}{}; {}", first.name, asked, among, all)) << '\n';
}

int show_where(const cli::Options& options, const model::Dataset& data, const std::vector<SitedTest>& tests,
               const render::Paint& paint, const csv::Problems& problems, std::ostream& out, std::ostream& err) {
  const bool has_any = std::any_of(tests.begin(), tests.end(), [](const SitedTest& one) { return !one.sites.empty(); });
  if (!has_any && !options.syscall.empty()) {
    std::set<std::string_view> made;
    for (const SitedTest& test : tests) {
      for (const stats::SyscallSummary& one : test.window.syscalls) made.insert(one.name);
    }
    print_made(tests.front().window, options.syscall, made, err);
    problems.print(err);
    return cli::kExitBadInput;
  }
  if (!options.svg.empty()) {
    if (const std::string fault = draw_sites(options.svg, tests); !fault.empty()) {
      problems.print(err);
      err << "bench: " << fault << '\n';
      return cli::kExitBadInput;
    }
  }
  const auto text = [&] { return show_where_text(tests, options, paint); };
  return print({.json = [&] { return show_where_json(data, tests); },
                .csv = [&] { return show_where_csv(tests); },
                .markdown = text,
                .text = text},
               options, problems, out, err);
}

}  // namespace

int show(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  if (is_folded_file(options.runs.front())) return show_folded(options, err);
  csv::Problems problems;
  csv::Run run = csv::find_files(options.runs.front(), options.folders, problems);
#ifdef SYSCOST_HAS_GPU_STAMPS
  csv::Problems unopened;  // noted when it is loaded
  const bool is_open = !run.is_folder && !run.files.empty() && run.files.front().open(unopened);
  if (is_open && gpu_stamps::is_stamp_file(run.files.front())) {
    return gpu_stamps::show_stamps(options, run.files.front(), paint, out, err);
  }
#endif
  std::string fault;
  const std::optional<model::SyscallChoice> choice = model::SyscallChoice::parse(options.syscall, fault);
  if (!choice) {
    err << "bench: SYSCALL " << csv::printable(fault) << '\n';
    return cli::kExitBadInput;
  }
  model::LoadOptions load_options;
  load_options.all_runs = options.all_runs;
  load_options.is_printable = options.is_printable();
  if (!options.run_ids.empty()) load_options.run_id = options.run_ids.front();
  load_options.keep_histograms = !options.has_where;
  load_options.keep_sites = options.has_where;
  load_options.tests = model::TestChoice(options.tests);
  NamedTest named = load_named(std::move(run), load_options, options.test, problems);
  const model::Dataset& data = named.data;
  std::vector<model::Group>& groups = named.groups;
  auto fail = [&] {
    problems.print(err);
    return cli::kExitBadInput;
  };
  if (groups.empty()) {
    note_no_test(data, load_options.tests, problems);
    return fail();
  }
  // With TEST and --where, --sort and --top choose among its lines.
  const bool chooses =
      !options.tests.empty() || (options.test.empty() && (!options.sort.empty() || options.top.has_value()));
  if (chooses) {
    const std::string key = options.sort.empty() ? "worst" : options.sort;
    groups = ordered_groups(data, groups, key, options.top.value_or(0));
  }
  if (!options.svg.empty() && !options.has_where) {
    err << "bench: --svg draws a stamp file, a file of folded stacks, or the lines of a test (--where)\n";
    return fail();
  }
  std::vector<const model::Group*> found = find_test(data, groups, options.test);
  if (options.test.empty() && !chooses) prefer_tests(data, found);
  const bool takes_several = chooses && (options.format != cli::Format::json || options.has_where);
  if (found.size() != 1 && !takes_several) {
    print_candidates(named, found, options.test, "show", err);
    return fail();
  }
  if (options.has_where) {
    if (!data.has_sites) {
      err << no_sites_text(data);
      return fail();
    }
    std::vector<SitedTest> tests;
    for (const model::Group* one : found) {
      for (SitedTest& test : sited_tests(data, groups, *one, *choice, site_key(options))) {
        tests.push_back(std::move(test));
      }
    }
    return show_where(options, data, tests, paint, problems, out, err);
  }
  std::vector<Part> parts;
  for (const model::Group* one : found) {
    for (Part& part : parts_of(data, groups, *one, *choice, problems)) parts.push_back(std::move(part));
  }
  const bool has_any = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return !part.syscalls.empty(); });
  if (!has_any && !options.syscall.empty()) {
    std::set<std::string_view> made;
    for (const Part& part : parts) {
      for (const stats::SyscallSummary& one : part.window.syscalls) made.insert(one.name);
    }
    print_made(parts.front().window, options.syscall, made, err);
    return fail();
  }
  return print({.json = [&] { return show_json(data, parts, options.is_fine); },
                .csv = [&] { return show_csv(parts, options.is_fine); },
                .markdown = [&] { return render::code_block(show_text(parts, options.is_fine, render::Paint(false))); },
                .text = [&] { return show_text(parts, options.is_fine, paint, options.screen.width); }},
               options, problems, out, err);
}

}  // namespace syscost::bench::commands
