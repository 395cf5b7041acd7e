// SPDX-License-Identifier: MIT
#include "findings/lookup_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings/syscall_families.h"
#include "findings/thresholds.h"
#include "render/units.h"

namespace syscost::bench::findings {
namespace {

using Calls = std::vector<const TracedCall*>;

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Lookups of one path that find nothing, one right after the other.
struct Sought {
  Calls now;
  Calls most;

  void end_sought() {
    if (now.size() > most.size()) most = now;
    now.clear();
  }
};

/// What is looked for in many folders.
struct Object {
  std::string_view name;
  std::size_t folders = 0;
  std::size_t lookups = 0;

  /// A search path may have a folder twice.
  std::size_t searches() const { return std::max<std::size_t>(lookups / std::max<std::size_t>(folders, 1), 1); }
};

/// The name that `calls` look for in the most folders.
Object object_of(const Calls& calls) {
  std::map<std::string_view, std::set<std::string_view>> folders;
  std::map<std::string_view, std::size_t> lookups;
  for (const TracedCall* call : calls) {
    const std::string_view name = name_of(call->path);
    folders[name].insert(call->path);
    ++lookups[name];
  }
  Object most;
  for (const auto& [name, paths] : folders) {
    if (paths.size() > most.folders) most = {name, paths.size(), lookups[name]};
  }
  return most;
}

/// All searches for one name.
struct Searches {
  std::size_t count = 0;
  std::size_t folders = 0;  ///< Of the longest one.
  Calls calls;
};

/// Finds searches: lookups of one thread that find nothing, right after each other.
class SearchFinder {
 public:
  void add_lookup(const TracedCall& call) {
    Calls& row = rows_[call.call->thread];
    if (!row.empty() && !is_next(*row.back(), call, kFewBetween)) end_search(row);
    row.push_back(&call);
  }
  std::map<std::string_view, Searches> take() {
    for (auto& [thread, row] : rows_) end_search(row);
    return std::move(found_);
  }

 private:
  void end_search(Calls& row) {
    if (const Object object = object_of(row); object.folders >= kManyMissing) {
      Searches& all = found_[object.name];
      all.count += object.searches();
      all.folders = std::max(all.folders, object.folders);
      all.calls.insert(all.calls.end(), row.begin(), row.end());
    }
    row.clear();
  }

  std::map<std::uint32_t, Calls> rows_;  // by thread
  std::map<std::string_view, Searches> found_;
};

}  // namespace

std::vector<Hit> missing_paths(const WindowCalls& window) {
  const CallSum lookups = window.sum(kLookups);
  const double missing = lookups.failed_with("ENOENT");
  if (missing < kManyLookups || missing < kMissingShare * lookups.calls) return {};
  const double ns = lookups.kernel_ns ? *lookups.kernel_ns * missing / lookups.calls : 0;
  return {{std::string(lookups.most), window.site_of(kLookups),
           fmt::format("{} of {} lookups of paths{} find nothing (ENOENT)", render::count(missing),
                       render::count(lookups.calls), window.per()),
           ns, true}};
}

std::vector<Hit> missing_paths_in_order(const TracedWindow& window) {
  std::map<std::string, Sought> paths;
  SearchFinder finder;
  for (const TracedCall& call : window.calls()) {
    for (const std::string* path : changed_by(call)) {
      if (const auto found = paths.find(*path); found != paths.end()) found->second.end_sought();
    }
    if (call.path.empty() || !is_one_of(kLookups, call.name()) || call.call->error() != "ENOENT") continue;
    Sought& sought = paths[call.path];
    if (!sought.now.empty() && !is_next(*sought.now.back(), call, kFewBetween)) sought.end_sought();
    sought.now.push_back(&call);
    finder.add_lookup(call);
  }
  struct Line {
    std::size_t paths = 0;
    std::string first;
    Calls calls;
  };
  std::map<std::pair<bool, std::string>, Line> lines;  // by whether it is a note, and site
  std::set<std::string_view> again;                    // names that `lines` has the lookups of
  for (auto& [path, sought] : paths) {
    sought.end_sought();
    if (sought.most.size() < kManyMissing) continue;
    Line& line = lines[{!window.is_system_file(path), site_of(sought.most)}];
    if (line.paths++ == 0) line.first = path;
    line.calls.insert(line.calls.end(), sought.most.begin(), sought.most.end());
    again.insert(name_of(path));
  }
  std::vector<Hit> hits;
  for (const auto& [place, line] : lines) {
    const std::string others = line.paths == 1 ? "" : fmt::format(" and {} more", line.paths - 1);
    hits.push_back({std::string(line.calls.front()->name()), place.second,
                    fmt::format("{}{} {} looked for {} times, and {} never there", line.first, others,
                                line.paths == 1 ? "is" : "are", line.calls.size(), line.paths == 1 ? "is" : "are"),
                    cost_of(line.calls), place.first});
  }
  for (const auto& [name, searches] : finder.take()) {
    if (again.contains(name)) continue;
    std::string evidence = fmt::format("{} is looked for in {} folders where it is not", name, searches.folders);
    if (searches.count > 1) evidence += fmt::format(", {} times", searches.count);
    hits.push_back({std::string(searches.calls.front()->name()), site_of(searches.calls), std::move(evidence),
                    cost_of(searches.calls), true});
  }
  return hits;
}

}  // namespace syscost::bench::findings
