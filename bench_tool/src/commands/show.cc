// SPDX-License-Identifier: MIT
#include "commands/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "commands/chosen_tests.h"
#include "commands/show_render.h"
#include "csv/find_files.h"
#include "csv/printable.h"
#include "csv/problems.h"
#ifdef SYSCOST_HAS_GPU_STAMPS
#include "gpu_stamps/show_stamps.h"
#include "gpu_stamps/stamps_reader.h"
#endif
#include "model/group.h"
#include "model/loader.h"
#include "model/syscall_choice.h"
#include "render/markdown.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
namespace {

using Part = ShownWindow;

/// The groups that TEST names: exactly, with or without the program, or else by a part of the name. Loops of a test
/// that is among them are not: they are shown with it.
std::vector<const model::Group*> find_test(const model::Dataset& data, const std::vector<model::Group>& groups,
                                           const std::string& asked) {
  // As it is printed, or as the file has it.
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
  // What a tool saw of a window is shown with the window, which stands before it.
  std::vector<const model::Group*> windows;
  for (const model::Group* group : found) {
    const bool is_there = std::any_of(windows.begin(), windows.end(),
                                      [&](const model::Group* other) { return model::is_same_window(*group, *other); });
    if (!is_there) windows.push_back(group);
  }
  return windows;
}

/// `named` and, behind it, the loops that ran in it; behind each, what tools saw of it.
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

/// What a run without TEST shows: the only test there is, if there is one, whatever its suite or its children have.
void prefer_tests(const model::Dataset& data, std::vector<const model::Group*>& found) {
  const auto is_test = [&](const model::Group* group) {
    return group->is_test(data) || data.text(group->kind) == "benchmark";
  };
  if (std::count_if(found.begin(), found.end(), is_test) == 1) std::erase_if(found, std::not_fn(is_test));
}

/// The part of `test` that names of what tools saw and of what we counted share.
std::string without_origin(std::string test) {
  const std::string mark = fmt::format(" [{}]", schema::kOriginBpftrace);
  if (const std::size_t at = test.find(mark); at != std::string::npos) test.erase(at, mark.size());
  return test;
}

/// Says which tests there are instead of the one that was not found.
void print_candidates(const model::Dataset& data, const std::vector<const model::Group*>& candidates,
                      const std::string& wanted, bool is_ambiguous, std::ostream& err) {
  constexpr std::size_t kMostNamed = 20;
  if (wanted.empty()) {
    err << "bench: show needs a TEST, its name or a part that only one test has; there are\n";
  } else {
    err << "bench: " << (is_ambiguous ? "several tests match" : "no test matches") << " \"" << csv::printable(wanted)
        << "\"; " << (is_ambiguous ? "which one?" : "there are") << '\n';
  }
  for (std::size_t i = 0; i < candidates.size() && i < kMostNamed; ++i) {
    err << "  " << csv::printable(model::display_name(data, *candidates[i])) << '\n';
  }
  if (candidates.size() > kMostNamed) err << "  and " << candidates.size() - kMostNamed << " more\n";
}

}  // namespace

int show(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err) {
  csv::Problems problems;
  csv::Run run = csv::find_files(options.runs.front(), problems);
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
  load_options.keep_histograms = true;
  load_options.histograms_of = without_origin(options.test);
  load_options.tests = model::TestChoice(options.tests);
  model::Dataset data = model::load(std::move(run), load_options, problems);
  auto fail = [&] {
    problems.print(err);
    return cli::kExitBadInput;
  };
  std::vector<model::Group> groups = model::group_samples(data);
  if (groups.empty()) {
    note_no_test(data, load_options.tests, problems);
    return fail();
  }
  if (!options.tests.empty()) {
    const std::string key = options.sort.empty() ? "worst" : options.sort;
    groups = ordered_groups(data, groups, key, options.top.value_or(0));
  }
  if (!options.svg.empty()) {
    err << "bench: --svg draws a stamp file, and " << csv::printable(options.runs.front()) << " is none\n";
    return fail();
  }
  std::vector<const model::Group*> found = find_test(data, groups, options.test);
  if (options.test.empty()) prefer_tests(data, found);
  const bool takes_several = !options.tests.empty() && options.format != cli::Format::json;
  if (found.size() != 1 && !takes_several) {
    print_candidates(data, found.empty() ? find_test(data, groups, "") : found, options.test, !found.empty(), err);
    return fail();
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
    const std::string all = made.empty() ? "no syscalls" : fmt::format("{}", fmt::join(made, ", "));
    err << csv::printable(
               fmt::format("bench: {} made no {}; it made {}", parts.front().window.name, options.syscall, all))
        << '\n';
    return fail();
  }
  switch (options.format) {
    case cli::Format::json:
      out << show_json(data, parts, options.is_fine);
      break;
    case cli::Format::csv:
      out << show_csv(parts, options.is_fine);
      break;
    case cli::Format::md:
      out << render::code_block(show_text(parts, options.is_fine, render::Paint(false)));
      break;
    case cli::Format::text:
      out << show_text(parts, options.is_fine, paint, options.screen.width);
      break;
  }
  problems.print(err);
  return problems.empty() ? cli::kExitOk : cli::kExitBadInput;
}

}  // namespace syscost::bench::commands
