// SPDX-License-Identifier: MIT
//
// Table: the same cells as aligned text for a terminal or as Markdown for a pull request.
#pragma once

#include <string>
#include <vector>

namespace syscost::bench::render {

enum class Align { left, right };

/// What cells hold, for Markdown: text that is escaped, names that become code, or Markdown.
enum class Cells { text, names, markdown };

struct TableColumn {
  std::string title;
  Align align = Align::left;
  Cells cells = Cells::text;
};

/// Number of terminal columns that UTF-8 `text` takes, taking each code point for one.
std::size_t display_width(std::string_view text);

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  /// Columns padded to their widest cell, `gap` spaces apart (`first_gap` after the first); no trailing spaces.
  std::string text(std::size_t gap = 2, std::size_t first_gap = 2) const;
  /// A pipe table.
  std::string markdown() const;

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace syscost::bench::render
