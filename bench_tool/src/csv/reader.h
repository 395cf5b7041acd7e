// SPDX-License-Identifier: MIT
//
// The reader: a CSV of ours, row by row, as cells.
//
// A file of many runs is often read for one of them, so the reader does not split the rows of the others. If a line
// cannot be used, it becomes a problem with its line number, and the reader goes on with the next line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "csv/input.h"
#include "csv/problems.h"
#include "syscost/schema.h"

namespace syscost::bench::csv {

/// One row; cells live until the handler returns.
class Row {
 public:
  std::string_view text(schema::Column column) const { return cells_[static_cast<std::size_t>(column)]; }
  bool are_empty(schema::Column first, schema::Column last) const {
    for (auto column = static_cast<std::size_t>(first); column <= static_cast<std::size_t>(last); ++column) {
      if (*cells_[column] != '\0') return false;
    }
    return true;
  }
  std::uint64_t line() const { return line_; }
  /// True if its columns before `record` equal those of the previous row that was handed out.
  bool repeats_key() const { return repeats_key_; }

 private:
  friend class RowReader;

  Row() = default;

  const char* const* cells_ = nullptr;
  std::uint64_t line_ = 0;
  bool repeats_key_ = false;
};

/// Takes one row; returns its fault, or "" if it was used.
using RowHandler = std::function<std::string(const Row&)>;

/// Reads the whole input `bytes`, called `name` in messages. Calls `handle` for each whole row, in file order.
/// `only_run`: of other runs, one row of each program is handed out, at least; empty: all rows.
void read_csv(const std::string& name, ReadBytes bytes, const RowHandler& handle, Problems& problems,
              const std::string& only_run = {});

/// The beginning of a row, before `column`; nullopt if it is shorter, or has a quote there.
std::optional<std::string_view> beginning_of(std::string_view line, schema::Column column);

/// The text of a problem with a row or a file of schema version `version`, which bench does not read.
std::string version_fault(std::uint64_t version);

/// Reads text in memory.
void read_csv_text(const std::string& name, std::string_view text, const RowHandler& handle, Problems& problems);

}  // namespace syscost::bench::csv
