// SPDX-License-Identifier: MIT
#include "model/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/dataset.h"
#include "syscost/schema.h"

namespace syscost::bench::model {
namespace {

constexpr std::size_t kBuildIdShown = 8;

/// Run, host, start, process id and file name.
using ProcessKey = std::tuple<NameId, NameId, NameId, std::uint64_t, NameId>;
/// Run, host and file name of a program.
using Place = std::tuple<NameId, NameId, NameId>;

/// The names of programs, by file name.
using Given = std::map<std::string, std::set<std::string>, std::less<>>;

bool is_below(std::string_view path, std::string_view name) {
  return path.ends_with(name) && (path.size() == name.size() || path[path.size() - name.size() - 1] == '/');
}

/// The longest of `names` in which `path` ends; "" if it ends in none.
std::string longest_of(const std::set<std::string>& names, std::string_view path) {
  std::string longest;
  for (const std::string& name : names) {
    if (name.size() > longest.size() && is_below(path, name)) longest = name;
  }
  return longest;
}

/// The number of bytes that all paths have in common, up to the end of a folder.
std::size_t common_folder(const std::set<std::string>& paths) {
  const std::string& first = *paths.begin();
  const std::string& last = *paths.rbegin();  // what the first and the last have in common, all between have, too
  const auto end = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  return first.rfind('/', static_cast<std::size_t>(end - first.begin()) - (end == first.begin() ? 0 : 1)) + 1;
}

/// Names for the programs of one run that have one file name, by path: those that `given` has for them, if these tell
/// them apart.
std::map<std::string, std::string> names_of(const std::set<std::string>& paths, const std::set<std::string>& given) {
  const std::size_t common = common_folder(paths);
  std::map<std::string, std::string> names;
  std::set<std::string> all;
  for (const std::string& path : paths) {
    std::string name = longest_of(given, path);
    if (name.empty()) name = path.substr(common);
    all.insert(name);
    names[path] = std::move(name);
  }
  if (all.size() == paths.size()) return names;
  for (auto& [path, name] : names) name = path.substr(common);
  return names;
}

/// One dataset, with the programs of its runs.
class Side {
 public:
  explicit Side(Dataset& data) : data_(data), is_used_(data.contexts.size(), false) {
    for (const Context& context : data.contexts) {
      files_.push_back(data.names.intern(program_name(data.text(context.program))));
    }
    for (const RunFacts& run : data.runs) {
      is_used_[run.context] = true;
      const std::string_view path = fact_in(data.text(run.surroundings), schema::kFactProgramPath);
      if (path.empty()) continue;
      // Started by a link, a program has another name than its file.
      std::string& its = paths_[process_of(run.context, run.pid)];
      its = path.substr(0, path.rfind('/') + 1);
      its += data.text(files_[run.context]);
    }
    for (const Sample& sample : data.samples) is_used_[sample.context] = true;
  }

  /// Adds the paths of builds.
  void learn(std::map<std::string, std::string>& path_of_build) const {
    for (const RunFacts& run : data_.runs) {
      const std::string& build = data_.text(data_.contexts[run.context].build_id);
      const auto path = paths_.find(process_of(run.context, run.pid));
      if (build.empty() || path == paths_.end()) continue;
      std::string& known = path_of_build[build];
      if (known.empty() || path->second < known) known = path->second;
    }
  }

  /// Finds the path of each program. Rows without /proc have none: another row of the build may have.
  void find_programs(const std::map<std::string, std::string>& path_of_build) {
    std::vector<bool> has_path(files_.size(), false);
    for (const RunFacts& run : data_.runs) {
      const auto path = paths_.find(process_of(run.context, run.pid));
      if (path == paths_.end()) continue;
      add(run.context, path->second);
      has_path[run.context] = true;
    }
    for (std::uint32_t i = 0; i < files_.size(); ++i) {
      const Context& context = data_.contexts[i];
      if (!is_used_[i] || has_path[i] || context.is_plain || context.build_id == kNoName) continue;
      const std::string& build = data_.text(context.build_id);
      const auto known = path_of_build.find(build);
      add(i, known != path_of_build.end() ? known->second
                                          : "/build-" + build.substr(0, kBuildIdShown) + "/" + data_.text(files_[i]));
    }
  }

  /// Names the programs that have the file name of another one of their run.
  void name_equal_ones(Given& given) {
    for (auto& [place, programs] : programs_) {
      std::set<std::string> paths;
      for (const auto& [build, path] : programs) paths.insert(path);
      if (paths.size() < 2) continue;
      std::set<std::string>& known = given[data_.text(std::get<2>(place))];
      names_[place] = names_of(paths, known);
      for (const auto& [path, name] : names_[place]) known.insert(name);
    }
  }

  /// Renames each program with a file name of `given`.
  void rename(const Given& given) {
    if (given.empty()) return;
    std::vector<const std::set<std::string>*> known(files_.size(), nullptr);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto found = given.find(data_.text(files_[i]));
      if (found != given.end() && !data_.contexts[i].is_plain) known[i] = &found->second;
    }
    std::vector<bool> is_taken(files_.size(), false);
    std::map<std::pair<std::uint32_t, NameId>, std::uint32_t> moved;
    const auto move = [&](std::uint32_t context, std::uint64_t pid) {
      if (known[context] == nullptr) return context;
      const NameId name = data_.names.intern(name_for(context, pid, *known[context]));
      const auto [to, is_first] = moved.try_emplace({context, name}, context);
      if (!is_first) return to->second;
      if (is_taken[context]) {  // by a process without a build id that started in the same millisecond
        to->second = static_cast<std::uint32_t>(data_.contexts.size());
        data_.contexts.push_back(data_.contexts[context]);
      } else {
        is_taken[context] = true;
      }
      data_.contexts[to->second].program = name;
      return to->second;
    };
    for (RunFacts& run : data_.runs) run.context = move(run.context, run.pid);
    for (Sample& sample : data_.samples) sample.context = move(sample.context, sample.pid);
  }

 private:
  ProcessKey process_of(std::uint32_t index, std::uint64_t pid) const {
    const Context& context = data_.contexts[index];
    return {context.run_id, context.host, context.started_at, pid, files_[index]};
  }

  Place place_of(std::uint32_t index) const {
    return {data_.contexts[index].run_id, data_.contexts[index].host, files_[index]};
  }

  /// A build is one program, although there may be copies of it; the first of their paths stands for all.
  void add(std::uint32_t context, const std::string& path) {
    const std::string& build = data_.text(data_.contexts[context].build_id);
    std::string& known = programs_[place_of(context)][build.empty() ? path : build];
    if (known.empty() || path < known) known = path;
  }

  std::string name_for(std::uint32_t context, std::uint64_t pid, const std::set<std::string>& known) const {
    const auto its = paths_.find(process_of(context, pid));
    const std::string& build = data_.text(data_.contexts[context].build_id);
    const std::string key = !build.empty() ? build : its != paths_.end() ? its->second : "";
    const Place place = place_of(context);
    const auto programs = programs_.find(place);
    if (programs == programs_.end() || !programs->second.contains(key)) return data_.text(files_[context]);
    const std::string& path = programs->second.at(key);
    const auto names = names_.find(place);
    const std::string name = names != names_.end() ? names->second.at(path) : longest_of(known, path);
    return name.empty() ? data_.text(files_[context]) : name;
  }

  Dataset& data_;
  std::vector<bool> is_used_;  // by context: by what was read and not left out
  std::vector<NameId> files_;  // by context: the file name of the program
  std::map<ProcessKey, std::string> paths_;
  std::map<Place, std::map<std::string, std::string>> programs_;  // path, by build id, or by path
  std::map<Place, std::map<std::string, std::string>> names_;     // by path
};

}  // namespace

void tell_programs_apart(const std::vector<Dataset*>& sides, const std::vector<std::string>& known) {
  Given given;
  for (const std::string& name : known) {
    const std::string_view file = program_name(name);
    if (file.size() != name.size()) given[std::string(file)].insert(name);
  }
  std::vector<Side> all;
  std::map<std::string, std::string> path_of_build;
  for (Dataset* const data : sides) all.emplace_back(*data).learn(path_of_build);
  for (Side& side : all) side.find_programs(path_of_build);
  for (Side& side : all) side.name_equal_ones(given);
  for (Side& side : all) side.rename(given);
}

std::vector<std::string> names_told_apart(const Dataset& data) {
  std::set<std::string> names;
  for (const Context& context : data.contexts) {
    const std::string& name = data.text(context.program);
    if (!context.is_plain && name.find('/') != std::string::npos) names.insert(name);
  }
  return {names.begin(), names.end()};
}

namespace {

constexpr char kEntrySeparator = '+';

/// Adds `name=value;name=value`.
void add_facts(std::string_view text, const std::string& program, Facts& facts) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) continue;  // of a version to come
    const std::string_view name = one.substr(0, equals);
    // These differ in any case.
    if (name == schema::kFactProcessStart || name == schema::kFactProgramPath || name == schema::kFactBenchRun)
      continue;
    facts[std::string(one.substr(0, equals))][program].emplace(one.substr(equals + 1));
  }
}

Values values_of(std::string_view text) {
  Values values;
  for (;;) {
    const std::size_t end = text.find(kEntrySeparator);
    values.emplace(text.substr(0, end));
    if (end == std::string_view::npos) return values;
    text.remove_prefix(end + 1);
  }
}

std::string text_of(const Values& values) {
  return fmt::format("{}", fmt::join(values, "+"));
}

Values all_of(const std::map<std::string, Values>& by_program) {
  Values all;
  for (const auto& [program, values] : by_program) all.insert(values.begin(), values.end());
  return all;
}

}  // namespace

std::string_view fact_in(std::string_view facts, std::string_view name) {
  while (!facts.empty()) {
    const std::string_view one = facts.substr(0, facts.find(';'));
    facts.remove_prefix(std::min(facts.size(), one.size() + 1));
    if (one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
  }
  return {};
}

Facts facts_of(const Dataset& data) {
  std::set<std::pair<std::uint32_t, NameId>> chosen;
  for (const Sample& sample : data.samples) {
    const Context& context = data.context(sample);
    chosen.emplace(context.file, context.run_id);
  }
  Facts facts;
  for (const RunFacts& run : data.runs) {
    const Context& context = data.contexts[run.context];
    if (chosen.count({context.file, context.run_id}) == 0) continue;
    add_facts(data.text(run.surroundings), data.text(context.program), facts);
  }
  return facts;
}

std::string values_of(const Dataset& data, NameId Context::*field) {
  Values values;
  for (const Sample& sample : data.samples) {
    const Context& context = data.context(sample);
    if (!context.is_plain || context.*field != kNoName) values.insert(data.text(context.*field));
  }
  return text_of(values);
}

std::string joined(const std::map<std::string, Values>& by_program) {
  return text_of(all_of(by_program));
}

std::vector<ChangedFact> changed_facts(const Facts& before, const Facts& after) {
  std::vector<ChangedFact> changed;
  for (const auto& [name, old_programs] : before) {
    const auto found = after.find(name);
    if (found == after.end()) continue;
    Values old_values;
    Values new_values;
    bool has_common = false;
    for (const auto& [program, values] : old_programs) {
      const auto same = found->second.find(program);
      if (same == found->second.end()) continue;
      has_common = true;
      if (same->second == values) continue;
      old_values.insert(values.begin(), values.end());
      new_values.insert(same->second.begin(), same->second.end());
    }
    if (!has_common) {
      old_values = all_of(old_programs);
      new_values = all_of(found->second);
    }
    if (old_values != new_values) changed.push_back({name, text_of(old_values), text_of(new_values)});
  }
  return changed;
}

bool has_all(std::string_view before, std::string_view after) {
  const Values old_values = values_of(before);
  const Values new_values = values_of(after);
  return std::includes(old_values.begin(), old_values.end(), new_values.begin(), new_values.end());
}

}  // namespace syscost::bench::model
