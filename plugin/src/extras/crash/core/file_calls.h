// SPDX-License-Identifier: MIT
//
// FileCall: one call of the program that may change files below a directory, or that makes changes sure; and what a
// backend offers to record them (docs/crash-states.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"

namespace syscost {

/// An inode, by the kernel's numbers.
struct FileKey {
  std::uint64_t device = 0;
  std::uint64_t number = 0;  ///< 0 = there is none.

  bool operator<(const FileKey& other) const {
    return device != other.device ? device < other.device : number < other.number;
  }
  bool operator==(const FileKey&) const = default;
};

/// A file as the recorder saw it beside a call.
struct SeenFile {
  FileKey key;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;  ///< As st_mode: with the kind.

  bool is_there() const { return key.number != 0; }
};

struct FileCall {
  static constexpr std::uint32_t kMark = ~std::uint32_t{0};  ///< In place of a number: FileRecorder::mark().

  std::uint32_t number = 0;  ///< The native ABI's.
  std::array<std::uint64_t, 6> arguments = {};
  std::int64_t result = 0;  ///< -errno for a failure.
  bool has_returned = false;
  /// By one counter of all threads: before the call was made, and after it returned.
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::uint32_t stack = 0;  ///< CallDetail::origin; 0 = unknown.

  /// For a call with a descriptor: its file, before the call. For one with a path: the file there before the call; for
  /// open, after symbolic links. For link: the file that gets one more name.
  SeenFile object;
  /// For a path: the directory in which its last name is.
  SeenFile folder;
  /// After a call that may make a file: the file there now. For a rename: the file that was at the second path before.
  SeenFile other;
  SeenFile other_folder;   ///< The second path's.
  std::string path;        ///< As given, without slashes at its end. For a mark: its name.
  std::string other_path;  ///< The second path; of symlink, its target.

  std::string data;              ///< That the call wrote, as it was when the call began; `result` bytes of it count.
  std::uint64_t offset = 0;      ///< Where in the file it wrote it.
  std::uint32_t file_flags = 0;  ///< The descriptor's: O_APPEND, O_SYNC, O_DSYNC.
};

/// Records the calls of one stretch at a time.
class FileRecorder {
 public:
  static constexpr std::string_view kExtension = "files";  ///< Backend::extension()

  virtual ~FileRecorder() = default;
  FileRecorder(const FileRecorder&) = delete;
  FileRecorder& operator=(const FileRecorder&) = delete;

  /// From now on calls of all threads that the backend sees are recorded if they change one of `files`, or make a file
  /// in one of them: such a file belongs to them from then on. Fails if it records already, or without memory. Makes
  /// syscalls.
  virtual Result<void> start(std::span<const FileKey> files) = 0;
  /// Any thread. No effect while nothing is recorded. Makes no syscall.
  virtual void mark(std::string_view name) = 0;
  /// Ends the recording, and returns the calls in the order in which they began. Fails if any could not be recorded.
  virtual Result<std::vector<FileCall>> stop() = 0;

 protected:
  FileRecorder() = default;
};

}  // namespace syscost
