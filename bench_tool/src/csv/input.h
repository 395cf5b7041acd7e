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

  /// Opens the file unless it is open. False when that fails, which is then noted in `problems`.
  bool open(Problems& problems);
  /// A pipe that was closed cannot be read again.
  void close();

  // Of an open input:

  /// Its bytes have a place: any part can be read, more than once, by several threads at once. False for packed files.
  bool is_regular() const { return is_regular_; }
  /// Of a regular file, when it was opened.
  std::uint64_t size() const { return size_; }
  /// The first 256 bytes, or all if there are fewer. For a pipe this waits for its writer.
  std::string_view beginning();
  /// All bytes. Of what is not regular, to be called once. The input must outlive what it returns, as for bytes_of().
  ReadBytes bytes();
  /// Of a regular file: `size` bytes from `offset` on; 0: to the end, however far that is by then.
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
  bool has_ended_ = false;  ///< Of a pipe or terminal: the beginning is all of it.
};

/// All of a small text file; nullopt where it cannot be read, which is then noted in `problems`.
std::optional<std::string> read_text(const std::string& path, Problems& problems);

}  // namespace syscost::bench::csv
