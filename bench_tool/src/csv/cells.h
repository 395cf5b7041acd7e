// SPDX-License-Identifier: MIT
//
// Cells: a line of a CSV, split at its commas.
//
// bench spends most of its time here. So it searches 16 bytes at once for borders, and does not split again what a line
// shares with the line before. Quotes are rare: a line that holds one is split byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace syscost::bench::csv {

enum class SplitFault { none, too_few, too_many, open_quote };

class Cells {
 public:
  static constexpr std::size_t kMostColumns = 96;

  /// Lines must have `columns` of them, at most kMostColumns.
  explicit Cells(std::size_t columns) : columns_(columns) {}
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;

  /// Splits `line`. LineSource::kReadableAfterLine more bytes after it must be readable. Cells are views into the line
  /// or into this object, and stay until the next call.
  SplitFault split(std::string_view line);
  /// The same for a line that begins with the same bytes as the one before, up to column `shared`.
  SplitFault split_after(std::string_view line, std::size_t shared);

  /// The cell in `column`, without quotes. The last line must have had no fault.
  std::string_view operator[](std::size_t column) const {
    return {base_ + begins_[column], begins_[column + 1] - begins_[column] - 1U};
  }
  /// Columns [first, last] are empty.
  bool are_empty(std::size_t first, std::size_t last) const {
    return begins_[last + 1] - begins_[first] == last + 1 - first;
  }
  /// Where in the line the column begins, quotes and all.
  std::size_t begin_in_line(std::size_t column) const { return in_line_[column]; }
  /// The line holds a quote.
  bool is_quoted() const { return begins_ != in_line_.data(); }

 private:
  using Begins = std::array<std::uint32_t, kMostColumns + 18>;  // a step of 16 bytes may go so far beyond the last

  SplitFault find_borders(std::string_view line, std::size_t from, std::size_t column);
  SplitFault split_quoted(std::string_view line);

  std::size_t columns_;
  const char* base_ = nullptr;  ///< begins_ counts from here.
  Begins in_line_{};            ///< Where each cell begins in the line, with its quotes.
  Begins in_text_{};            ///< Where each cell begins in unquoted_.
  const std::uint32_t* begins_ = in_line_.data();
  std::string unquoted_;  ///< The cells of a line with quotes, without the quotes; one byte follows each.
};

}  // namespace syscost::bench::csv
