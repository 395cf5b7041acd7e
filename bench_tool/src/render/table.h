// SPDX-License-Identifier: MIT
//
// Table: the same cells as aligned text for a terminal or as Markdown for a pull request.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace syscost::bench::render {

enum class Align { left, right };

/// How Markdown writes cells: as escaped text, as names in code style, or unchanged.
enum class Cells { text, names, markdown };

/// Where a cell's text gives way if the table is too wide.
enum class Shrinks { nowhere, in_the_middle, at_the_end };

struct TableColumn {
  std::string title;
  Align align = Align::left;
  Cells cells = Cells::text;
  Shrinks shrinks = Shrinks::nowhere;
};

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  /// Columns padded to their widest cell, `gap` spaces apart (`first_gap` after the first); no trailing spaces. Where
  /// that is wider than `width` (0: any), first gaps give way, then columns that may, as far as cells stay readable.
  std::string text(std::size_t gap = 2, std::size_t first_gap = 2, std::size_t width = 0) const;
  /// Columns that the widest line of text(gap, first_gap) takes.
  std::size_t width(std::size_t gap, std::size_t first_gap) const;
  /// A pipe table.
  std::string markdown() const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace syscost::bench::render
