// SPDX-License-Identifier: MIT
#include "crash/final_check.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "crash/model.h"

namespace syscost::crash {
namespace {

class Comparison {
 public:
  Comparison(const Image& made, const Image& found, std::span<const std::string> may_differ)
      : made_(made), found_(found), may_differ_(may_differ) {}

  /// The path that differs; empty = none.
  std::string difference(Node made, Node found, const std::string& path) {
    const auto [known, is_new] = pairs_.emplace(made, found);
    if (!is_new) return known->second == found ? std::string() : path;
    const Inode& a = made_.inodes[made];
    const Inode& b = found_.inodes[found];
    if (a.kind != b.kind) return path;
    if (a.kind != Kind::folder) return a.content() == b.content() || is_excused(path) ? std::string() : path;
    for (const auto& [name, node] : b.entries) {
      if (a.entries.count(name) == 0) return path + "/" + name;
    }
    for (const auto& [name, node] : a.entries) {
      const auto other = b.entries.find(name);
      if (other == b.entries.end()) return path + "/" + name;
      std::string differs = difference(node, other->second, path + "/" + name);
      if (!differs.empty()) return differs;
    }
    return {};
  }

  const std::map<Node, Node>& pairs() const { return pairs_; }

 private:
  bool is_excused(const std::string& path) const {
    const std::string name = path.substr(path.rfind('/') + 1);
    return std::any_of(may_differ_.begin(), may_differ_.end(),
                       [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
  }

  const Image& made_;
  const Image& found_;
  std::span<const std::string> may_differ_;
  std::map<Node, Node> pairs_;
};

}  // namespace

Result<void> check_end(Recording& recording, const Image& after, std::span<const std::string> may_differ) {
  Settings settings;
  const Plan plan = make_plan(recording.initial, recording.log, settings);
  const Image all = image_of(recording.initial, recording.log, plan, Changes(plan.changes.size(), true));
  Comparison comparison(all, after, may_differ);
  const std::string differs = comparison.difference(kRoot, kRoot, "");
  if (!differs.empty()) {
    return Failure{"The recorded calls do not make what is in the directory now: " + differs.substr(1) +
                       " differs. A mapping (mmap), a child process, io_uring, or a thread that still runs or is older "
                       "than the backend has changed it unseen.",
                   "Let the body change files by calls of this process. Name files that are mapped, and that the check "
                   "does not need, in CrashOptions::may_be_mapped."};
  }
  for (const auto& [made, found] : comparison.pairs()) {
    recording.initial.inodes[made].mode = after.inodes[found].mode;
  }
  return {};
}

}  // namespace syscost::crash
