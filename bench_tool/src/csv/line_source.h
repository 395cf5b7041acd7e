// SPDX-License-Identifier: MIT
//
// LineSource: cuts any bytes into lines. Each line has its number, and what is wrong with it.
//
// A file may hold anything: a line without an end, NUL bytes, a last line that was never closed. Memory for a line is
// bounded. After a bad line the next lines are handed out as usual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "csv/input.h"

namespace syscost::bench::csv {

/// Longest line that is read; a row of ours is at most about 10 KiB (a histogram with every bucket filled).
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

/// A longer line counts as endless, as that of /dev/zero; then nothing more is read.
inline constexpr std::size_t kEndlessLineBytes = std::size_t{64} << 20;

enum class Damage { none, too_long, has_nul, endless };

struct Line {
  std::string_view text;  ///< Without the line end. You may read kReadableAfterLine bytes after it; they mean nothing.
  std::uint64_t number = 0;  ///< From 1.
  Damage damage = Damage::none;
};

class LineSource {
 public:
  /// How many bytes you may read after a line's text. So you can read it in steps of 16 bytes, up to its end.
  static constexpr std::size_t kReadableAfterLine = 16;

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
