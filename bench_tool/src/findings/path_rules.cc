// SPDX-License-Identifier: MIT
#include "findings/path_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "findings/syscall_families.h"
#include "findings/thresholds.h"
#include "render/units.h"

namespace syscost::bench::findings {
namespace {

using Calls = std::vector<const TracedCall*>;

/// The paths of which a call changes the content, or that it makes or removes.
std::vector<const std::string*> changed_by(const TracedCall& call) {
  static constexpr std::array<std::string_view, 22> kChanges = {
      "rename",    "renameat", "renameat2", "unlink",  "unlinkat", "link",           "linkat", "symlink",
      "symlinkat", "mkdir",    "mkdirat",   "rmdir",   "truncate", "ftruncate",      "mknod",  "mknodat",
      "write",     "pwrite64", "writev",    "pwritev", "sendfile", "copy_file_range"};
  if (call.failed()) return {};
  if (is_one_of(kOpens, call.name())) {
    const bool makes = call.file != nullptr && (call.file->has_flag("O_CREAT") || call.file->has_flag("O_TRUNC"));
    return makes && !call.file->is_appended ? std::vector{&call.path} : std::vector<const std::string*>();
  }
  if (!is_one_of(kChanges, call.name())) return {};
  if (call.file != nullptr) return {&call.file->path};
  return {&call.path, &call.other_path};
}

/// Opens of one path since it changed last.
struct Opens {
  Calls reading;
  Calls most_reading;
  Calls appending;
  Calls most_appending;

  void change_content() {
    if (reading.size() > most_reading.size()) most_reading = reading;
    reading.clear();
  }
  void end() {
    change_content();
    if (appending.size() > most_appending.size()) most_appending = appending;
    appending.clear();
  }
};

/// How an open file is used before its close.
struct FileUse {
  std::size_t reads = 0;
  std::size_t writes = 0;
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
           ns}};
}

std::vector<Hit> missing_paths_in_order(const TracedWindow& window) {
  std::map<std::string, Calls> missing;
  std::map<std::string, Calls> most;
  std::map<std::string, std::map<std::string, const TracedCall*>> folders;  // by the name of the file
  for (const TracedCall& call : window.calls()) {
    for (const std::string* path : changed_by(call)) missing.erase(*path);
    if (call.path.empty() || !is_one_of(kLookups, call.name()) || call.call->error() != "ENOENT") continue;
    Calls& calls = missing[call.path];
    calls.push_back(&call);
    if (calls.size() > most[call.path].size()) most[call.path] = calls;
    const std::size_t slash = call.path.rfind('/');
    if (slash != std::string::npos) folders[call.path.substr(slash + 1)].try_emplace(call.path.substr(0, slash), &call);
  }
  std::vector<Hit> hits;
  struct Sought {
    std::size_t paths = 0;
    std::string first;
    Calls calls;
  };
  std::map<std::string_view, Sought> by_site;  // a search path is sought from one line
  for (const auto& [path, calls] : most) {
    if (calls.size() < kManyMissing) continue;
    Sought& sought = by_site[calls.front()->call->site];
    if (sought.paths++ == 0) sought.first = path;
    sought.calls.insert(sought.calls.end(), calls.begin(), calls.end());
  }
  for (const auto& [site, sought] : by_site) {
    const std::string others = sought.paths == 1 ? "" : fmt::format(" and {} more", sought.paths - 1);
    hits.push_back(
        {std::string(sought.calls.front()->name()), site_of(sought.calls),
         fmt::format("{}{} {} looked for {} times, and {} never there", sought.first, others,
                     sought.paths == 1 ? "is" : "are", sought.calls.size(), sought.paths == 1 ? "is" : "are"),
         cost_of(sought.calls)});
  }
  for (const auto& [name, places] : folders) {
    if (places.size() < kManyMissing) continue;
    Calls calls;
    for (const auto& [folder, call] : places) calls.push_back(call);
    hits.push_back({std::string(calls.front()->name()), site_of(calls),
                    fmt::format("{} is looked for in {} folders where it is not", name, calls.size()), cost_of(calls)});
  }
  return hits;
}

std::vector<Hit> open_to_probe(const TracedWindow& window) {
  // Calls that use nothing of the file but its inode.
  static constexpr std::array<std::string_view, 5> kLooks = {"fstat", "newfstatat", "statx", "fcntl", "close"};
  PerFile<bool> is_used;
  std::map<std::string_view, Calls> probes;  // by the site of the open
  for (const TracedCall& call : window.calls()) {
    if (call.file == nullptr || !call.file->is_plain() || call.failed()) continue;
    if (is_one_of(kOpens, call.name())) {
      const bool is_made = call.file->has_flag("O_CREAT") || call.file->has_flag("O_TRUNC") ||
                           call.file->has_flag("O_PATH") || call.file->has_flag("O_DIRECTORY");
      is_used[call.file] = is_made;
      continue;
    }
    bool& used = is_used[call.file];
    if (!is_one_of(kLooks, call.name())) used = true;
    if (call.name() == "fcntl" && window.argument(call, "cmd").find("LK") != std::string_view::npos) used = true;
    if (call.name() == "close" && !used) probes[window.calls()[call.file->opened].call->site].push_back(&call);
  }
  std::vector<Hit> hits;
  for (const auto& [site, closes] : probes) {
    if (closes.size() < kManyOpensToStat) continue;
    std::set<std::string_view> paths;
    Calls opens;
    for (const TracedCall* close : closes) {
      paths.insert(close->file->path);
      opens.push_back(&window.calls()[close->file->opened]);
    }
    hits.push_back(
        {std::string(opens.front()->name()), site_of(opens),
         fmt::format("{} opens of {} path{} ({}{}) read and write nothing before the close", opens.size(), paths.size(),
                     paths.size() == 1 ? "" : "s", *paths.begin(), paths.size() == 1 ? "" : ", ..."),
         cost_of(opens) + cost_of(closes)});
  }
  return hits;
}

std::vector<Hit> reopened_file(const TracedWindow& window) {
  static constexpr std::array<std::string_view, 6> kUses = {"read", "readv", "pread64", "preadv", "preadv2", "mmap"};
  std::map<std::string, Opens> files;
  PerFile<FileUse> uses;
  for (const TracedCall& call : window.calls()) {
    for (const std::string* path : changed_by(call)) {
      const auto found = files.find(*path);
      if (found == files.end()) continue;
      const bool appends = call.file != nullptr && call.file->is_appended;
      appends ? found->second.change_content() : found->second.end();
    }
    if (call.failed() || call.file == nullptr || !call.file->is_plain()) continue;
    const OpenFile& file = *call.file;
    FileUse& use = uses[&file];
    if (is_one_of(kUses, call.name())) {
      // The first use says that this open was for its content.
      if (use.reads++ == 0 && !file.is_written) files[file.path].reading.push_back(&window.calls()[file.opened]);
    } else if (is_one_of(kWrites, call.name())) {
      ++use.writes;
    } else if (call.name() == "close" && file.is_appended && use.writes > 0 && use.writes <= kFewAppends) {
      files[file.path].appending.push_back(&window.calls()[file.opened]);
    }
  }
  std::vector<Hit> hits;
  for (auto& [path, opens] : files) {
    opens.end();
    if (opens.most_reading.size() >= kManyOpens) {
      hits.push_back({"openat", site_of(opens.most_reading),
                      fmt::format("{} is opened {} times to read the same content", path, opens.most_reading.size()),
                      cost_of(opens.most_reading)});
    }
    if (opens.most_appending.size() >= kManyOpens) {
      hits.push_back({"openat", site_of(opens.most_appending),
                      fmt::format("{} is opened {} times to append to it", path, opens.most_appending.size()),
                      cost_of(opens.most_appending)});
    }
  }
  return hits;
}

}  // namespace syscost::bench::findings
