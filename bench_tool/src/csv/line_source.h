// SPDX-License-Identifier: MIT
//
// LineSource: any bytes as lines, each with its number and what is wrong with it.
//
// A file may hold anything: a line without an end, NUL bytes, a last line that was never closed. Memory for a line is
// bounded, and the lines behind a bad one are handed out all the same.
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

/// Past this a line is taken to have no end, as /dev/zero's has none, and nothing more is read.
inline constexpr std::size_t kEndlessLineBytes = std::size_t{64} << 20;

enum class Damage { none, too_long, has_nul, endless };

struct Line {
  std::string_view text;     ///< Without what ends it. kReadableBehind bytes behind it may be read, and mean nothing.
  std::uint64_t number = 0;  ///< From 1.
  Damage damage = Damage::none;
};

class LineSource {
 public:
  /// Bytes behind the text of a line that may be read: who reads it 16 bytes at a time needs no care at its end.
  static constexpr std::size_t kReadableBehind = 16;

  explicit LineSource(ReadBytes read_bytes) : read_bytes_(std::move(read_bytes)) {}

  /// Hands out the next line, which stays until the next call; false at the end. A byte order mark is no part of the
  /// first line.
  bool next(Line& line);
  /// That were handed out.
  std::uint64_t lines() const { return lines_; }

 private:
  /// Reads more behind what is there; false at the end.
  bool fill();
  /// Hands out a line that is longer than kMaxLineBytes, and drops the rest of it.
  void drop_rest(Line& line);
  void hand_out(Line& line, const char* begin, const char* end);

  ReadBytes read_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;     ///< Of the bytes that were not handed out.
  std::size_t searched_ = 0;  ///< No line ends before this.
  std::size_t end_ = 0;       ///< Of the bytes that were read.
  bool has_nul_ = false;      ///< Somewhere in them.
  bool is_at_end_ = false;
  std::uint64_t lines_ = 0;
};

}  // namespace syscost::bench::csv
