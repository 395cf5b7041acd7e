// SPDX-License-Identifier: MIT
//
// Operation: one thing that the body did to the files below the directory, in the terms of docs/crash-states.md: inodes
// and directory entries, not descriptors and paths.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crash/image.h"

namespace syscost::crash {

enum class Act : std::uint8_t {
  entries,          ///< Changes of directory entries, all at once: a creation, link, removal, rename.
  write,            ///< Bytes of a file, and its size if they go beyond its end.
  resize,           ///< A file's size alone.
  sync_file,        ///< fsync or fdatasync of a file.
  sync_folder,      ///< fsync of a directory.
  sync_everything,  ///< sync, syncfs.
  mark,             ///< The body says how far it is.
};

/// A name in a folder, and the inode that it gets. kNoNode = the name goes.
struct EntryChange {
  Node folder;
  std::string name;
  Node node;
};

struct Operation {
  Act act = Act::mark;
  /// That is written, resized or synced. Of entries: that is made, moved or removed.
  Node node = kNoNode;
  std::vector<EntryChange> entries = {};
  /// Of entries: a file takes the place of another one.
  bool replaces = false;
  std::uint64_t offset = 0;                           ///< Of a write.
  std::shared_ptr<const std::string> data = nullptr;  ///< Of a write.
  std::uint64_t size = 0;                             ///< Of a resize.
  /// The call itself waited until its change was on the disk: O_SYNC, O_DSYNC.
  bool is_synced = false;
  /// Times, by one counter: when the call began and when it returned. Operations are in the order of `ended`. All 0 in
  /// a log of one thread made by hand: each ended before the next began.
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::string text = {};  ///< In words: `rename a -> b`. Of a mark: its name.
};

}  // namespace syscost::crash
