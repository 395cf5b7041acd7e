// SPDX-License-Identifier: MIT
//
// Rules about files: looking for them, opening them, and syncing them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings/rules.h"
#include "findings/thresholds.h"
#include "findings/window_calls.h"
#include "render/numbers.h"

namespace syscost::bench::findings {
namespace {

using Calls = std::vector<const TracedCall*>;

/// Opens of one path that follow each other, while it does not change.
class Reopened {
 public:
  /// `is_near`: hardly anything was done since the last open of the path.
  void add_open(const TracedCall& open, bool is_near) {
    if (!is_near) end_opens();
    near_.push_back(&open);
    all_.push_back(&open);
  }
  void end_opens() {
    if (near_.size() > most_near_.size()) most_near_ = near_;
    near_.clear();
  }
  void end_content() {
    end_opens();
    if (all_.size() > most_.size()) most_ = all_;
    all_.clear();
  }
  const Calls& most_near() const { return most_near_; }
  const Calls& most() const { return most_; }

 private:
  Calls near_;
  Calls most_near_;
  Calls all_;
  Calls most_;
};

struct Opens {
  Reopened reading;
  Reopened appending;
  std::size_t appends = 0;              ///< Opens to append,
  std::size_t appends_in_one_call = 0;  ///< and how many one call of the test opens and closes.
  const TracedCall* last = nullptr;     ///< The last call on the path.
};

/// How an open file is used before its close.
struct FileUse {
  std::size_t reads = 0;
  std::size_t writes = 0;
  bool is_near = false;  ///< Its open came right after the last call on the path.
};

}  // namespace

std::vector<Hit> open_to_probe(const TracedWindow& window) {
  // Calls that use nothing of the file but its inode.
  static constexpr std::array<std::string_view, 5> kLooks = {"fstat", "newfstatat", "statx", "fcntl", "close"};
  struct Use {
    bool is_used = false;
    std::size_t calls = 0;
  };
  PerFile<Use> uses;
  std::map<std::string_view, Calls> probes;  // by the site of the open
  for (const TracedCall& call : window.calls()) {
    if (call.file == nullptr || !call.file->is_plain() || call.failed()) continue;
    Use& use = uses[call.file];
    ++use.calls;
    if (is_one_of(kOpens, call.name())) {
      use.is_used = call.file->has_flag("O_CREAT") || call.file->has_flag("O_TRUNC") || call.file->has_flag("O_PATH") ||
                    call.file->has_flag("O_DIRECTORY");
      continue;
    }
    if (!is_one_of(kLooks, call.name())) use.is_used = true;
    if (call.name() == "fcntl" && window.argument(call, "cmd").find("LK") != std::string_view::npos) use.is_used = true;
    if (call.name() != "close" || use.is_used) continue;
    // A file that is held open while other calls are made may be there for them.
    const TracedCall& open = window.calls()[call.file->opened];
    const bool is_at_once = open.call->thread == call.call->thread && call.in_thread == open.in_thread + use.calls - 1;
    if (is_at_once) probes[open.call->site].push_back(&call);
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
         cost_of(opens) + cost_of(closes), true});
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
      found->second.reading.end_content();
      if (!appends) found->second.appending.end_content();
    }
    if (call.failed() || call.file == nullptr || !call.file->is_plain()) continue;
    const OpenFile& file = *call.file;
    FileUse& use = uses[&file];
    Opens& opens = files[file.path];
    const TracedCall* before = std::exchange(opens.last, &call);
    if (is_one_of(kOpens, call.name())) {
      use.is_near = before != nullptr && is_next(*before, call, kFewBetween);
    } else if (is_one_of(kUses, call.name())) {
      // The first use says that this open was for its content.
      if (use.reads++ == 0 && !file.is_written) opens.reading.add_open(window.calls()[file.opened], use.is_near);
    } else if (is_one_of(kWrites, call.name())) {
      ++use.writes;
    } else if (call.name() == "close" && file.is_appended && use.writes > 0 && use.writes <= kFewAppends) {
      const TracedCall& open = window.calls()[file.opened];
      opens.appending.add_open(open, use.is_near);
      ++opens.appends;
      if (window.in_one_call(open, call)) ++opens.appends_in_one_call;
    }
  }
  std::vector<Hit> hits;
  const auto add = [&](const std::string& path, const Reopened& opens, bool is_on_purpose, std::string_view what) {
    const bool is_row = opens.most_near().size() >= kManyOpens;
    const Calls& calls = is_row ? opens.most_near() : opens.most();
    if (calls.size() < kManyOpens) return;
    hits.push_back({"openat", site_of(calls), fmt::format("{} is opened {} times {}", path, calls.size(), what),
                    cost_of(calls), !is_row || is_on_purpose});
  };
  for (auto& [path, opens] : files) {
    opens.reading.end_content();
    opens.appending.end_content();
    add(path, opens.reading, !window.is_system_file(path), "to read the same content");
    add(path, opens.appending, 2 * opens.appends_in_one_call < opens.appends, "to append to it");
  }
  return hits;
}

namespace {

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

/// A thing that is looked for in many folders.
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
  std::size_t folders = 0;  ///< In the longest one.
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

namespace {

using render::count;

/// The syncs of one path.
struct Synced {
  Calls all;
  std::size_t writes = 0;
  std::size_t needless_in_one_call = 0;  ///< So many of them come in one call of the test with the sync before.
  Calls row;                             ///< Each after a few writes, with hardly anything else done in between.
  std::size_t row_writes = 0;
  Calls most;
  std::size_t most_writes = 0;
  std::size_t unsynced = 0;  ///< Writes since the last sync.
  Calls needless;            ///< Nothing was written since the sync before.
  bool is_mapped = false;    ///< Its content may change without a call.
  const TracedCall* last = nullptr;

  void end_syncs() {
    if (row.size() > most.size()) {
      most = row;
      most_writes = row_writes;
    }
    row.clear();
    row_writes = 0;
  }

  void sync(const TracedWindow& window, const TracedCall& call) {
    if (unsynced == 0 && !all.empty() && !is_mapped) {
      needless.push_back(&call);
      if (window.in_one_call(*all.back(), call)) ++needless_in_one_call;
    }
    all.push_back(&call);
    if (static_cast<double>(unsynced) > kWritesEachSync) end_syncs();
    row.push_back(&call);
    row_writes += unsynced;
    unsynced = 0;
  }
};

bool is_sync(std::string_view name) {
  return name == "fsync" || name == "fdatasync";
}

Hit hit_of(const std::string& path, const Calls& syncs, std::size_t writes, bool is_note) {
  // A folder is not written: files are made, renamed and removed in it.
  const std::string of = writes == 0 ? "of" : fmt::format("for {} writes to", writes);
  return {
      std::string(syncs.front()->name()), site_of(syncs),
      fmt::format("{} syncs {} {}{}", syncs.size(), of, path, is_note ? "" : ", with hardly anything else in between"),
      cost_of(syncs), is_note};
}

}  // namespace

std::vector<Hit> fsync_storm(const WindowCalls& window) {
  const CallSum syncs = window.sum(kSyncs);
  // A new file may need one sync.
  const double opens = window.sum(kOpens).succeeded();
  if (syncs.calls - opens < kManySyncs) return {};
  const CallSum writes = window.sum(kWrites);
  if (writes.calls > kWritesEachSync * syncs.calls) return {};
  return {{std::string(syncs.most), window.site_of(kSyncs),
           fmt::format("{} syncs for {} writes and {} opens{}", count(syncs.calls), count(writes.calls), count(opens),
                       window.per()),
           syncs.kernel_ns.value_or(0), true}};
}

std::vector<Hit> fsync_storm_in_order(const TracedWindow& window) {
  std::map<std::string, Synced> files;  // by path: several opens may write to one file
  for (const TracedCall& call : window.calls()) {
    if (call.failed() || call.file == nullptr || !call.file->is_plain()) continue;
    Synced& file = files[call.file->path];
    const TracedCall* before = std::exchange(file.last, &call);
    if (before != nullptr && !is_next(*before, call, kFewBetween)) file.end_syncs();
    // In a folder it is not written, but files are made and renamed.
    if (call.name() == "mmap" || call.file->has_flag("O_DIRECTORY") || !call.file->is_written) file.is_mapped = true;
    if (is_sync(call.name())) {
      file.sync(window, call);
    } else if (is_one_of(kWrites, call.name()) || call.name() == "ftruncate" || call.name() == "fallocate") {
      ++file.writes;
      ++file.unsynced;
    }
  }
  std::vector<Hit> hits;
  for (auto& [path, synced] : files) {
    synced.end_syncs();
    if (synced.needless.size() >= kNeedlessSyncs) {
      hits.push_back({std::string(synced.needless.front()->name()), site_of(synced.needless),
                      fmt::format("{} of {} syncs of {} come when nothing was written since the sync before",
                                  synced.needless.size(), synced.all.size(), path),
                      cost_of(synced.needless), 2 * synced.needless_in_one_call < synced.needless.size()});
    } else if (static_cast<double>(synced.most.size()) >= kManySyncs) {
      hits.push_back(hit_of(path, synced.most, synced.most_writes,
                            2 * window.count_in_one_call(synced.most) < synced.most.size()));
    } else if (static_cast<double>(synced.all.size()) >= kManySyncs &&
               static_cast<double>(synced.writes) <= kWritesEachSync * static_cast<double>(synced.all.size())) {
      hits.push_back(hit_of(path, synced.all, synced.writes, true));
    }
  }
  return hits;
}

}  // namespace syscost::bench::findings
