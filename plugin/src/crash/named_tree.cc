// SPDX-License-Identifier: MIT
#include "crash/named_tree.h"

#include <memory>

namespace syscost::crash {
namespace {

constexpr mode_t kModeBits = 07777;

}  // namespace

NamedTree::NamedTree(Snapshot before)
    : initial_(std::move(before.image)), now_(initial_), nodes_(std::move(before.nodes)) {
  for (Node node = 0; node < now_.inodes.size(); ++node) {
    for (const auto& [name, child] : now_.inodes[node].entries) places_[child] = {node, name};
  }
}

Node NamedTree::node_of(const SeenFile& seen) const {
  const auto found = nodes_.find(seen.key);
  return seen.is_there() && found != nodes_.end() ? found->second : kNoNode;
}

Node NamedTree::at(Node folder, const std::string& name) const {
  const auto found = now_.inodes[folder].entries.find(name);
  return found != now_.inodes[folder].entries.end() ? found->second : kNoNode;
}

std::string NamedTree::path_at(Node folder, const std::string& name) const {
  std::string path = name;
  for (Node node = folder; node != kRoot;) {
    const auto place = places_.find(node);
    if (place == places_.end()) break;
    path = place->second.name + "/" + path;
    node = place->second.folder;
  }
  return path;
}

std::string NamedTree::path_of(Node node) const {
  const auto place = places_.find(node);
  if (node == kRoot) return "the directory";
  return place != places_.end() ? path_at(place->second.folder, place->second.name) : "a file without a name";
}

Node NamedTree::add(const SeenFile& seen, Kind kind, const std::string& target) {
  Inode inode;
  inode.kind = kind;
  inode.mode = seen.mode & kModeBits;
  if (kind == Kind::symlink) inode.data = std::make_shared<const std::string>(target);
  const Node node = add_inode(initial_, inode);
  add_inode(now_, std::move(inode));
  nodes_[seen.key] = node;
  return node;
}

void NamedTree::change(const std::vector<EntryChange>& entries) {
  for (const EntryChange& entry : entries) {
    auto& names = now_.inodes[entry.folder].entries;
    if (entry.node == kNoNode) {
      names.erase(entry.name);
    } else {
      names[entry.name] = entry.node;
      places_[entry.node] = {entry.folder, entry.name};
    }
  }
}

}  // namespace syscost::crash
