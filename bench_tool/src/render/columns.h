// SPDX-License-Identifier: MIT
//
// Column: all that a table needs to know of one column, so that a new one is added in one place.
//
// A list of titles and a list of cells in the same order drift apart: a cell in the wrong place still compiles.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "render/table.h"

namespace syscost::bench::render {

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

}  // namespace syscost::bench::render
