// SPDX-License-Identifier: MIT
//
// The reader: a CSV of ours, row by row, as cells.
//
// Splitting and unquoting is the CSV library's work. What is ours is what to do about files that are not what they
// should be: each line that cannot be used becomes a problem with its number and the next line is read.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "csv/guarded_source.h"
#include "csv/problems.h"
#include "syscost/schema.h"

namespace syscost::bench::csv {

/// One row; cells are NUL-terminated and live until the handler returns.
class Row {
 public:
  const char* operator[](schema::Column column) const { return cells_[static_cast<std::size_t>(column)]; }
  std::string_view text(schema::Column column) const { return (*this)[column]; }
  /// No byte of the cell, its NUL included, lies at or behind this: the next cell begins there. Not for the last.
  const char* bound(schema::Column column) const { return cells_[static_cast<std::size_t>(column) + 1]; }
  std::uint64_t line() const { return line_; }

 private:
  friend class RowReader;
  std::array<char*, schema::kColumnCount> cells_{};
  std::uint64_t line_ = 0;
};

/// Takes one row; returns what is wrong with it, or "" when it was used.
using RowHandler = std::function<std::string(const Row&)>;

struct ReadEnd {
  bool is_ours = false;     ///< False when the header is not ours, so that no row means anything.
  std::uint64_t lines = 0;  ///< That were read.
};

/// Reads the whole input `bytes`, called `name` in messages. Calls `handle` for each whole row, in file order.
ReadEnd read_csv(const std::string& name, ReadBytes bytes, const RowHandler& handle, Problems& problems,
                 bool has_header = true);

/// Reads text in memory.
void read_csv_text(const std::string& name, std::string_view text, const RowHandler& handle, Problems& problems);

}  // namespace syscost::bench::csv
