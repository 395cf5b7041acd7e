// SPDX-License-Identifier: MIT
//
// The reader: a CSV of ours, row by row, as cells.
//
// A large file is often read for a few of its rows. So the handler of a row tells the reader which of the next rows it
// does not need, and the reader does not even split those. If a line cannot be used, it becomes a problem with its line
// number, and the reader goes on with the next line.
#pragma once

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

/// One row; cells live until the handler returns.
class Row {
 public:
  std::string_view text(schema::Column column) const {
    return column == absent_ ? std::string_view() : cells_[position_of(column)];
  }
  /// Neither `first` nor `last` is a column that older files lack.
  bool are_empty(schema::Column first, schema::Column last) const {
    return cells_.are_empty(position_of(first), position_of(last));
  }
  std::uint64_t line() const { return line_; }
  /// True if its columns before `record` equal those of the previous row that was handed out.
  bool repeats_key() const { return repeats_key_; }

 private:
  friend class RowReader;

  /// The file was written before there was `column`.
  void lacks(schema::Column column) {
    absent_ = column;
    cells_.expect(schema::kColumnCount - 1);
  }
  bool lacks_a_column() const { return absent_ != static_cast<schema::Column>(schema::kColumnCount); }
  std::size_t position_of(schema::Column column) const {
    return static_cast<std::size_t>(column) - (column > absent_ ? 1U : 0U);
  }

  Cells cells_{schema::kColumnCount};
  schema::Column absent_ = static_cast<schema::Column>(schema::kColumnCount);  ///< That none is.
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

/// How the columns of the rows are known: from the header, or from the caller, who read the header before.
enum class Columns { in_first_line, all, without_cpu_ns };

/// Reads the whole input `bytes`, called `name` in messages. Calls `handle` for each whole row, in file order.
ReadEnd read_csv(const std::string& name, ReadBytes bytes, const RowHandler& handle, Problems& problems,
                 Columns columns = Columns::in_first_line);

/// Reads text in memory.
void read_csv_text(const std::string& name, std::string_view text, const RowHandler& handle, Problems& problems);

}  // namespace syscost::bench::csv
