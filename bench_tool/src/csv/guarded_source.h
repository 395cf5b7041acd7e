// SPDX-License-Identifier: MIT
//
// GuardedSource: makes any bytes safe for the CSV library to read.
//
// fast-cpp-csv-parser (libfccp) is fast because it trusts its input. Four kinds of bad file break it: a line longer
// than its block is reported for ever, a NUL ends a line early and hides the rest, a source that delivers less than
// asked before its end shifts the data, and a last line without a line feed is looked for past the data. This
// source stands between the file and the library: it fills every request, cuts over-long lines, replaces NULs, closes
// the last line, and remembers in LineDamage which lines it had to touch, so that the reader can say so.
//
// The library also throws for each line that is not a row, which costs more than reading thirty rows. So a line that
// does not end as a row does is marked here, at no cost, for the library to skip and the reader to report.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

// The library's code is not ours to fix: its warnings are off (SYSTEM include).
#include <libfccp/csv.h>

#include "csv/input.h"

namespace syscost::bench::csv {

/// Longest line that is read; a row of ours is at most about 10 KiB (a histogram with every bucket filled).
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

/// Past this a line is taken to have no end, as /dev/zero's has none, and nothing more is read.
inline constexpr std::size_t kEndlessLineBytes = std::size_t{64} << 20;

/// First byte of a line that is marked as not being a row. No other line begins with it: NULs in the input are
/// replaced.
inline constexpr char kNoRowMark = '\0';

/// The header, and the row behind it that tells the version of a header that is not ours, are never marked.
inline constexpr std::uint64_t kFirstMarkedLine = 3;

enum class Damage { none, too_long, has_nul, not_closed, endless };

/// Which lines were touched. The source writes it, the reader reads it.
class LineDamage {
 public:
  /// Notes `damage` on `line` (from 1). The first note of a line stays, but for `endless`.
  void note(std::uint64_t line, Damage damage);
  /// What was noted for `line`; costs one load when no line was damaged at all.
  Damage at(std::uint64_t line) const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::map<std::uint64_t, Damage> by_line_;
};

class GuardedSource : public io::ByteSourceBase {
 public:
  GuardedSource(ReadBytes read_bytes, std::shared_ptr<LineDamage> damage)
      : read_bytes_(std::move(read_bytes)), damage_(std::move(damage)) {}

  /// The library's call: fills `buffer` entirely, except at the end.
  int read(char* buffer, int size) override;

 private:
  /// Cleans `size` new bytes at `bytes` in place and returns how many remain.
  std::size_t clean(char* bytes, std::size_t size);
  /// The line [begin, end), cleaned and whole, without its line feed: marks it if it cannot be a row.
  void mark_unless_row(char* begin, const char* end) const;

  ReadBytes read_bytes_;
  std::shared_ptr<LineDamage> damage_;
  std::uint64_t line_ = 1;      ///< Line that the next byte belongs to.
  std::size_t line_bytes_ = 0;  ///< Bytes of that line so far.
  bool is_at_end_ = false;      ///< read_bytes_ said so.
  bool is_closed_ = false;      ///< The last line was closed, if it had to be.
};

}  // namespace syscost::bench::csv
