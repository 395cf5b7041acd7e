// SPDX-License-Identifier: MIT
//
// Input: a file that bench reads, opened once.
//
// A pipe cannot be opened twice: when the first descriptor is closed the writer is gone, and the second open waits for
// another writer for ever. So one descriptor serves the look at what kind of file it is and the reading; what was
// looked at is kept for the reader. What gzip packed is unpacked on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "csv/problems.h"

namespace syscost::bench::csv {

/// Delivers up to `size` bytes into `buffer`; 0 at the end. Throws std::system_error when reading fails.
using ReadBytes = std::function<std::size_t(char* buffer, std::size_t size)>;

/// Not thread-safe, but for what bytes_of() returned.
class Input {
 public:
  explicit Input(std::string path) : path_(std::move(path)) {}
  ~Input() { close(); }
  Input(Input&& other) noexcept;
  Input& operator=(Input&&) = delete;
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  const std::string& path() const { return path_; }

  /// Opens the file if it is not open. If that fails, notes the reason in `problems` and returns false.
  bool open(Problems& problems);
  /// A pipe that was closed cannot be read again.
  void close();

  // The input must be open for the following.

  /// True for a regular file that is not packed: several threads can read any part of it, at once and more than once.
  bool is_regular() const { return is_regular_; }
  /// The size of a regular file in bytes, from when it was opened.
  std::uint64_t size() const { return size_; }
  /// The first 256 bytes, or all if there are fewer. For a pipe this waits for its writer.
  std::string_view beginning();
  /// Returns a reader of all bytes, which the input must outlive. Call it once if the file is not regular.
  ReadBytes bytes();
  /// Returns a reader of `size` bytes of a regular file from `offset` on, which the input must outlive. `size` 0: to
  /// the end that the file has when it is read.
  ReadBytes bytes_of(std::uint64_t offset, std::uint64_t size) const;

 private:
  void open_stream();

  std::string path_;
  int descriptor_ = -1;
  bool is_regular_ = false;
  std::uint64_t size_ = 0;
  ReadBytes stream_;       ///< If the file is not regular: the bytes after the beginning.
  std::string beginning_;  ///< If the file is not regular: already read.
  bool has_beginning_ = false;
  bool has_ended_ = false;  ///< If the file is not regular: `beginning_` holds all of it.
};

/// A baseline of 100 000 tests has 300 MiB. A pipe may have no end.
inline constexpr std::size_t kMostText = std::size_t{512} << 20;

/// Returns everything that an open input holds. If it cannot be read, or has more than `most` bytes, notes that in
/// `problems` and returns nullopt.
std::optional<std::string> read_whole(Input& input, Problems& problems, std::size_t most = kMostText);
/// The same of the file at `path`.
std::optional<std::string> read_text(const std::string& path, Problems& problems, std::size_t most = kMostText);

/// True if a regular file is at the path `name`, which the user did not name. If something else is, notes that: someone
/// may have put a FIFO there, and opening it would wait for ever.
bool is_own_file_there(const std::string& name, Problems& problems);

}  // namespace syscost::bench::csv
