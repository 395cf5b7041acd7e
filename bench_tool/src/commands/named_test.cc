// SPDX-License-Identifier: MIT
#include "commands/named_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <utility>

#include "csv/printable.h"
#include "model/suggestion.h"
#include "syscost/schema.h"

namespace syscost::bench::commands {
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
