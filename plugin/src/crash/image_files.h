// SPDX-License-Identifier: MIT
//
// Images from the files of a directory, and back.
#pragma once

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

}  // namespace syscost::crash
