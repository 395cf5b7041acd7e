// SPDX-License-Identifier: MIT
//
// Input: a file that bench reads, opened once, unpacked if gzip packed it, and cut into lines.
//
// A pipe cannot be opened twice: when the first descriptor is closed the writer is gone, and the second open waits for
// another writer for ever. So one descriptor serves the look at the file's kind and the reading. The bytes that the
// look took are kept for the reader. A file may hold anything, so the memory for a line is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "csv/problems.h"

namespace syscost::bench::csv {

/// Delivers up to `size` bytes into `buffer`; 0 at the end. Throws std::system_error when reading fails.
using ReadBytes = std::function<std::size_t(char* buffer, std::size_t size)>;

/// Not thread-safe.
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

  /// True for a regular file that is not packed: it can be read more than once.
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

/// Rows pack to a twentieth or a fiftieth. A file that unpacks to more than this many times its size, and to more than
/// kAnyUnpackedBytes, was made to fill memory.
inline constexpr std::uint64_t kMostTimesPacked = 200;
inline constexpr std::uint64_t kAnyUnpackedBytes = std::uint64_t{64} << 20;

/// True for the beginning of a file that gzip wrote.
bool is_gzip(std::string_view beginning);

/// Returns a reader that unpacks the bytes of `packed`, with the memory of one block. It reads several packed files in
/// a row as one. It throws std::system_error if `packed` does, and if the data are cut short, damaged, or unpack to too
/// much.
///
/// People keep runs for months, and packed ones take a thirtieth of the space.
ReadBytes inflated(ReadBytes packed);

/// Longest line that is read; a row of ours is at most about 10 KiB (a histogram with every bucket filled).
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

/// A longer line counts as endless, as that of /dev/zero; then nothing more is read.
inline constexpr std::size_t kEndlessLineBytes = std::size_t{64} << 20;

enum class Damage { none, too_long, has_nul, endless };

struct Line {
  std::string_view text;     ///< Without the line end.
  std::uint64_t number = 0;  ///< From 1.
  Damage damage = Damage::none;
  bool has_end = true;  ///< False for a last line without a line feed.
};

/// Cuts any bytes into lines. Each line has its number, and what is wrong with it.
///
/// A file may hold anything: a line without an end, NUL bytes, a last line that was never closed. Memory for a line is
/// bounded. After a bad line the next lines are handed out as usual.
class LineSource {
 public:
  explicit LineSource(ReadBytes read_bytes) : read_bytes_(std::move(read_bytes)) {}

  /// Hands out the next line, which stays until the next call; false at the end. A byte order mark is no part of the
  /// first line.
  bool next(Line& line);
  /// The number of lines handed out so far.
  std::uint64_t lines() const { return lines_; }

 private:
  /// Reads more bytes into the buffer; false at the end.
  bool fill();
  /// Hands out a line that is longer than kMaxLineBytes, and drops the rest of it.
  void drop_rest(Line& line);
  void hand_out(Line& line, const char* begin, const char* end);

  ReadBytes read_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;     ///< Where the bytes begin that were not handed out yet.
  std::size_t searched_ = 0;  ///< No line ends before this.
  std::size_t end_ = 0;       ///< Where the bytes end that were read.
  bool has_nul_ = false;      ///< A zero byte is among them.
  bool is_at_end_ = false;
  std::uint64_t lines_ = 0;
};

}  // namespace syscost::bench::csv
