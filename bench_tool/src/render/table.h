// SPDX-License-Identifier: MIT
//
// Table: the same cells as aligned text for a terminal or as Markdown for a pull request, with the rules of Markdown.
//
// A text out of a file must not become markup: `BM_Fill<int>/8` is a name and not a tag, and a name must not put a link
// into a pull request. GitHub shows nothing of a text that is too large, so its size has a cap.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
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

/// All that a table needs to know of one column, so that a new one is added in one place. A list of titles and a list
/// of cells in the same order drift apart: a cell in the wrong place still compiles.
template <class Row>
struct Column {
  TableColumn head;
  std::function<std::string(const Row&)> cell;
  std::string total = {};  ///< Its cell of the line with the totals.
  bool is_shown = true;
};

template <class Row>
class ColumnTable {
 public:
  explicit ColumnTable(std::vector<Column<Row>> columns) : columns_(shown(std::move(columns))), table_(heads()) {}

  void add(const Row& row) {
    std::vector<std::string> cells;
    for (const Column<Row>& column : columns_) cells.push_back(column.cell(row));
    table_.add_row(std::move(cells));
  }
  void add_total() {
    std::vector<std::string> cells;
    for (const Column<Row>& column : columns_) cells.push_back(column.total);
    table_.add_row(std::move(cells));
  }

  const Table& table() const { return table_; }

 private:
  static std::vector<Column<Row>> shown(std::vector<Column<Row>> columns) {
    std::erase_if(columns, [](const Column<Row>& column) { return !column.is_shown; });
    return columns;
  }
  std::vector<TableColumn> heads() const {
    std::vector<TableColumn> heads;
    for (const Column<Row>& column : columns_) heads.push_back(column.head);
    return heads;
  }

  std::vector<Column<Row>> columns_;
  Table table_;
};

/// A name, letter by letter: `` `BM_Fill<int>/8` ``. Fit for a cell of a table. Expects printable text.
std::string code_span(std::string_view name);

/// Text that reads as it stands: what could begin markup or a link is escaped, so `x:1*2*3` is not in italics. Expects
/// printable text without line feeds. Other text must come before it on its line.
std::string escaped_markdown(std::string_view text);

/// The same for lines, each of which ends with a line feed.
std::string escaped_lines(std::string_view lines);

/// Lines as they are, between two fences.
std::string code_block(std::string_view lines);

/// `text`, if it is not longer than `most` bytes. Else its first lines, with what they leave open closed (<details>, a
/// fence), and a line that says how much is left out. Never longer than `most`, if `most` is at least 1000. GitHub
/// refuses a comment of more than 65 536 characters and a step summary of more than 1 MiB, and then shows nothing at
/// all.
std::string capped_markdown(std::string text, std::size_t most);

}  // namespace syscost::bench::render
