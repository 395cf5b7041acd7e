// SPDX-License-Identifier: MIT
//
// Images from the files of a directory, and back.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "core/file_calls.h"
#include "crash/image.h"
#include "os/result.h"

namespace syscost::crash {

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

/// A directory for the states of one run, which no other user can enter. It goes with all it holds.
class ScratchFolder {
 public:
  /// In TMPDIR, or in /tmp.
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }
  /// Removes what lies in it.
  void clear() const;

 private:
  explicit ScratchFolder(std::string path);

  std::string path_;
  pid_t owner_;  // a fork child of a check removes nothing
};

}  // namespace syscost::crash
