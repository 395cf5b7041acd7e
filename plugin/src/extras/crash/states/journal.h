// SPDX-License-Identifier: MIT
//
// Journal: from the calls of a body to operations on inodes and directory entries.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "extras/crash/core/file_calls.h"
#include "extras/crash/states/image.h"
#include "os/errors.h"

namespace syscost::crash {

/// Which inodes the directory has while a body runs, and by which names.
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

struct Recording {
  Image initial;  ///< With the inodes that the operations make.
  std::vector<Operation> log;
};

/// `calls`: all of the body. `line_of(stack)`: the line that made the call, or nothing. Fails if a call did something
/// that the model lacks.
Result<Recording> make_recording(Snapshot before, std::span<const FileCall> calls,
                                 const std::function<std::string(std::uint32_t)>& line_of);

/// Fails if the files are not what the operations make of them: something else has changed them. The contents of files
/// with a name of `may_differ` (`*` = any letters) are not looked at. Takes the permission bits over.
Result<void> check_end(Recording& recording, const Image& after, std::span<const std::string> may_differ);

}  // namespace syscost::crash
