// SPDX-License-Identifier: MIT
//
// Image: a directory and all that lies below it, in memory. It holds what was there before a body ran, and each state
// that a power cut could leave.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
  std::map<std::string, Node> entries;      ///< Of a folder.

  std::string_view content() const { return data != nullptr ? std::string_view(*data) : std::string_view(); }
};

/// inodes[kRoot] is the directory itself. An inode that no folder names is not there for a program.
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

}  // namespace syscost::crash
