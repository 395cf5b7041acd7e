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

}  // namespace syscost::bench::findings
