// SPDX-License-Identifier: MIT
//
// The reader: a CSV of ours, row by row, as cells.
//
// A large file is often read for a few of its rows. So the handler of a row tells the reader which of the next rows it
// does not need, and the reader does not even split those. If a line cannot be used, it becomes a problem with its line
// number, and the reader goes on with the next line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "csv/cells.h"
#include "csv/input.h"
#include "csv/line_source.h"
#include "csv/problems.h"
#include "syscost/schema.h"

namespace syscost::bench::csv {

/// In the place of a schema version: the input begins with the header, and the header says which columns the rows have.
/// A later part of a file has no header. Its reader is given the version of the header at the beginning of the file.
inline constexpr int kVersionInFirstLine = 0;

/// One row; cells live until the handler returns.
class Row {
 public:
  std::string_view text(schema::Column column) const {
    const std::uint8_t position = positions_[static_cast<std::size_t>(column)];
    return position == kAbsent ? std::string_view() : cells_[position];
  }
  /// Neither `first` nor `last` is a column that older files lack.
  bool are_empty(schema::Column first, schema::Column last) const {
    return cells_.are_empty(positions_[static_cast<std::size_t>(first)], positions_[static_cast<std::size_t>(last)]);
  }
  std::uint64_t line() const { return line_; }
  /// True if its columns before `record` equal those of the previous row that was handed out.
  bool repeats_key() const { return repeats_key_; }

 private:
  friend class RowReader;

  static constexpr std::uint8_t kAbsent = 0xff;

  Row() { expect(schema::kSchemaVersion); }
  /// Call it before the first line.
  void expect(int version) {
    count_ = 0;
    for (std::size_t i = 0; i < schema::kColumnCount; ++i) {
      const bool is_there = schema::column_since(static_cast<schema::Column>(i)) <= version;
      positions_[i] = is_there ? static_cast<std::uint8_t>(count_++) : kAbsent;
    }
    cells_.expect(count_);
  }

  Cells cells_{schema::kColumnCount};
  std::size_t count_ = 0;                                       ///< Of columns.
  std::array<std::uint8_t, schema::kColumnCount> positions_{};  ///< In a line, from 0; kAbsent = not there.
  std::uint64_t line_ = 0;
  bool repeats_key_ = false;
};

/// Which of the directly following rows are not handed out: those with the same beginning as this row.
enum class Skip {
  nothing,
  key,      ///< Up to column `record`: the rest of the window.
  context,  ///< Up to column `pid`: rows of the same program's run.
};

/// Takes one row; returns its fault, or "" if it was used. It may change `skip`, which is `nothing` before. Of skipped
/// lines the reader checks only the end.
using RowHandler = std::function<std::string(const Row&, Skip& skip)>;

struct ReadEnd {
  bool is_ours = false;     ///< False if the header is not ours: then no row has a meaning.
  std::uint64_t lines = 0;  ///< That were read.
};

/// Reads the whole input `bytes`, called `name` in messages. Calls `handle` for each whole row, in file order.
ReadEnd read_csv(const std::string& name, ReadBytes bytes, const RowHandler& handle, Problems& problems,
                 int version = kVersionInFirstLine);

/// Reads text in memory.
void read_csv_text(const std::string& name, std::string_view text, const RowHandler& handle, Problems& problems);

}  // namespace syscost::bench::csv
