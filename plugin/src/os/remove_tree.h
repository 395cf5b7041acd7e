// SPDX-License-Identifier: MIT
//
// Removes a folder of ours with all that lies in it, and nothing that is only mounted there.
//
// A test may mount a folder of the user's below its temporary folder, and end before it unmounts it. Who then removes
// the temporary folder by its names alone, as `rm -r` and std::filesystem::remove_all() do, removes the user's files. A
// bind mount may lie on the same device, so the device does not tell it. The number of the mount does. Where the kernel
// has no such numbers (gVisor), only what lies on another device is kept.
//
// No link is followed, and a descriptor per level is not needed, so the depth of the tree has no limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syscost {

struct LeftBehind {
  std::string path;  ///< Below the path that the caller gave, with that path.
  std::string why;   ///< "another file system is mounted there", "Operation not permitted".
};

/// At most so many are named.
inline constexpr std::size_t kMostLeftNamed = 8;

/// Removes `path`: a file, a link, or a folder with its contents, also folders that lack permissions. Returns what is
/// left, and why; empty if nothing is there any more.
std::vector<LeftBehind> remove_tree(const std::string& path);

/// The same, but the folder `path` itself stays.
std::vector<LeftBehind> remove_below(const std::string& path);

/// "/tmp/a/mnt: another file system is mounted there", one after another, for a message. Empty if nothing is left.
std::string text_of(const std::vector<LeftBehind>& left);

/// The number of the mount on which an open file lies: statx() has it since Linux 5.8, /proc always. For tests; the
/// removal takes the first that is there.
std::optional<std::uint64_t> mount_by_statx(int file);
std::optional<std::uint64_t> mount_by_proc(int file);

}  // namespace syscost
