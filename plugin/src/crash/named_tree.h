// SPDX-License-Identifier: MIT
//
// NamedTree: which inodes the directory has while a body runs, and by which names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/file_calls.h"
#include "crash/image.h"
#include "crash/image_files.h"
#include "crash/operation.h"

namespace syscost::crash {

class NamedTree {
 public:
  explicit NamedTree(Snapshot before);

  /// kNoNode for a file that is not there, or lies outside of the directory.
  Node node_of(const SeenFile& seen) const;
  /// The inode that folder `folder` has by `name`; kNoNode = none.
  Node at(Node folder, const std::string& name) const;
  bool is_of_kind(Node node, Kind kind) const { return now_.inodes[node].kind == kind; }
  /// True for a device on which something of the directory lies.
  bool is_on(std::uint64_t device) const { return nodes_.begin()->first.device == device; }
  /// Before the body ran; 0 for inodes that it made.
  std::uint64_t size_before(Node node) const { return initial_.inodes[node].content().size(); }

  /// In words: `d/a`, `the directory`, `a file without a name`.
  std::string path_at(Node folder, const std::string& name) const;
  std::string path_of(Node node) const;

  /// An inode that no folder names yet. `target`: of a symbolic link.
  Node add(const SeenFile& seen, Kind kind, const std::string& target);
  void change(const std::vector<EntryChange>& entries);

  /// The directory before the body ran, with the inodes that it made. Once.
  Image take_initial() { return std::move(initial_); }

 private:
  struct Place {
    Node folder;
    std::string name;
  };

  Image initial_;
  Image now_;  // after the calls so far; contents are not kept
  std::map<FileKey, Node> nodes_;
  std::map<Node, Place> places_;
};

}  // namespace syscost::crash
