// SPDX-License-Identifier: MIT
#include "findings/sync_rules.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings/syscall_families.h"
#include "findings/thresholds.h"
#include "render/units.h"

namespace syscost::bench::findings {
namespace {

using render::count;
using Calls = std::vector<const TracedCall*>;

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
