// SPDX-License-Identifier: MIT
//
// Image: a directory and all that lies below it, in memory; its files on the disk; and the operations that change it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "extras/crash/core/file_calls.h"
#include "os/errors.h"

namespace syscost::crash {

/// The place of an inode in Image::inodes.
using Node = std::uint32_t;
inline constexpr Node kNoNode = ~Node{0};
inline constexpr Node kRoot = 0;

enum class Kind : std::uint8_t { file, folder, symlink };

struct Inode {
  Kind kind = Kind::file;
  mode_t mode = 0644;                       ///< The permission bits.
  std::shared_ptr<const std::string> data;  ///< A file's content, or a symbolic link's target. Null = empty.
  std::map<std::string, Node> entries;      ///< A folder's.

  std::string_view content() const { return data != nullptr ? std::string_view(*data) : std::string_view(); }
};

/// The files before a body ran, or in a state that a power cut could leave. inodes[kRoot] is the directory itself. An
/// inode that no folder names is not there for a program.
struct Image {
  std::vector<Inode> inodes = {{Kind::folder, 0700, nullptr, {}}};
};

/// Adds an inode that no folder names yet.
Node add_inode(Image& image, Inode inode);
/// The inode at `path`, names with slashes between them; kNoNode = there is none.
Node find(const Image& image, std::string_view path);

/// Equal for images that a program cannot tell apart by names, kinds, permission bits, contents and hard links.
using Digest = unsigned __int128;

/// Makes digests: FNV-1a with 128 bits. Keeps those of contents that it has seen, as long as their strings live.
class Digester {
 public:
  Digest digest(const Image& image);

 private:
  Digest digest_of(const std::shared_ptr<const std::string>& data);

  // The strings stay, so that an address belongs to one string only.
  std::map<std::shared_ptr<const std::string>, Digest> known_;
};

// Operations are in the terms of docs/crash-states.md: inodes and directory entries, not descriptors and paths.

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
  /// That is written, resized or synced; for entries: that is made, moved or removed.
  Node node = kNoNode;
  std::vector<EntryChange> entries = {};
  /// For entries: a file takes the place of another one.
  bool replaces = false;
  std::uint64_t offset = 0;                           ///< A write's.
  std::shared_ptr<const std::string> data = nullptr;  ///< A write's.
  std::uint64_t size = 0;                             ///< A resize's.
  /// The call itself waited until its change was on the disk: O_SYNC, O_DSYNC.
  bool is_synced = false;
  /// Times, by one counter: when the call began and when it returned. Operations are in the order of `ended`. All 0 in
  /// a log of one thread made by hand: each ended before the next began.
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::string text = {};  ///< In words: `rename a -> b`. For a mark: its name.
};

struct Snapshot {
  Image image;
  std::map<FileKey, Node> nodes;
};

/// Reads all that lies below `directory`: at most `most_bytes` of contents. Fails for anything but files, directories
/// and symbolic links, and for a directory of another file system.
Result<Snapshot> read_files(const std::string& directory, std::uint64_t most_bytes);

/// Makes the files of `image` in `directory`, which it makes. Directories are made so that their owner can remove what
/// they hold.
Result<void> write_files(const Image& image, const std::string& directory);

}  // namespace syscost::crash
