// SPDX-License-Identifier: MIT
//
// Sink: the CSV file, to which several test programs append at once, and which stays readable if one of them dies. And
// the check of its header.
//
// `ctest -j` runs one process per test, all with the same SYSCOST_CSV; a test may be killed, may close every file
// descriptor, may fill the disk. So the sink only appends rows, under a lock, the rows of a window with one write. It
// first ends a line that a killed writer left torn, and removes rows that a full disk accepted in part. A test may also
// cut, delete or replace the file: the sink goes on with what is there then, and says that rows are missing.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "os/errors.h"

namespace syscost::csv {

// Checks that a file is a CSV of this version: rows appended to another version's file, or to a user's notes, would
// damage both.

struct HeaderState {
  /// The text that completes the header: all of it for an empty file, the rest if a crash tore it, else nothing.
  std::string_view missing;
};

/// Reads the first line of `fd`, called `path` in messages. Fails if it is not our header.
Result<HeaderState> check_header(int fd, const std::string& path);

/// The same for text that was read already: the file's first line with its line break, or the whole file.
Result<HeaderState> check_header_text(std::string_view start, const std::string& path);

/// How long the file stays.
enum class Lifetime {
  kept,
  temporary,  ///< It goes with another process. Then nothing reads the rows, so they go to /dev/null.
};

/// Not thread-safe. Makes syscalls: between windows only.
class Sink {
 public:
  /// Opens or creates the file and, if it is empty, writes the header. Fails if it cannot be written, or holds
  /// something else than rows of this schema version. `path` is absolute.
  static Result<Sink> open(const std::string& path, Lifetime lifetime = Lifetime::kept);
  /// Fails where open() would, as far as one can know without creating the file or waiting for its lock.
  static Result<void> check(const std::string& path);

  Sink(Sink&& other) noexcept;
  Sink& operator=(Sink&& other) noexcept;
  ~Sink();

  /// Appends whole rows. On failure no part of them stays in the file.
  Result<void> append(std::string_view rows);

  /// The last append() failed because another process holds the file's lock; the same rows may be tried again.
  bool is_locked_out() const { return is_locked_out_; }

  /// Looks whether rows are gone; append() does so before it writes.
  void look_for_loss();
  /// Says once that rows which were in the file, ours or others', have gone since the last call.
  std::optional<Failure> take_loss();

  const std::string& path() const { return path_; }

 private:
  Sink(std::string path, int fd, Lifetime lifetime) : path_(std::move(path)), fd_(fd), lifetime_(lifetime) {}

  Result<void> remember_file();
  Result<void> check_or_write_header();
  Result<void> make_usable();
  Result<void> append_locked(std::string_view rows);
  bool is_ours(const struct stat& file) const;
  bool has_lost_rows(const struct stat& file) const;
  bool holds_own_rows() const;
  void note_loss(const struct stat& file);
  Result<void> write_all(std::string_view bytes, off_t size_before) const;
  Result<void> check_written(off_t expected) const;

  std::string path_;
  int fd_ = -1;
  Lifetime lifetime_ = Lifetime::kept;
  bool is_regular_ = false;
  bool has_header_ = false;  ///< For devices: their contents cannot be read back.
  bool is_locked_out_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  // For a regular file:
  off_t seen_end_ = 0;  ///< Its size when we last saw it.
  off_t own_begin_ = -1;
  off_t own_end_ = -1;  ///< Where the rows of our last append() are. -1 = we have written none.
  std::uint64_t own_hash_ = 0;
  bool has_loss_ = false;
};

}  // namespace syscost::csv
