// SPDX-License-Identifier: MIT
#include "render/table.h"

#include <algorithm>

#include "render/markdown.h"

namespace syscost::bench::render {
namespace {

std::string markdown_of(const std::string& cell, Cells cells) {
  switch (cells) {
    case Cells::names:
      return code_span(cell);
    case Cells::markdown:
      return cell;
    case Cells::text:
      break;
  }
  return escaped_markdown(cell);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string Table::text(std::size_t gap, std::size_t first_gap) const {
  std::vector<std::size_t> widths;
  for (const TableColumn& column : columns_) widths.push_back(display_width(column.title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string out;
  auto append_line = [&](auto cell_of) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::size_t pad = widths[i] - display_width(cell);
      if (columns_[i].align == Align::right) out.append(pad, ' ');
      out += cell;
      if (columns_[i].align == Align::left) out.append(pad, ' ');
      if (i + 1 < columns_.size()) out.append(i == 0 ? first_gap : gap, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  append_line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) append_line([&](std::size_t i) -> const std::string& { return row[i]; });
  return out;
}

std::string Table::markdown() const {
  std::string out = "|";
  for (const TableColumn& column : columns_) {
    out += ' ' + escaped_markdown(column.title) + " |";
  }
  out += "\n|";
  for (const TableColumn& column : columns_) out += column.align == Align::right ? "---:|" : "---|";
  out += '\n';
  for (const auto& row : rows_) {
    out += '|';
    for (std::size_t i = 0; i < row.size(); ++i) out += ' ' + markdown_of(row[i], columns_[i].cells) + " |";
    out += '\n';
  }
  return out;
}

}  // namespace syscost::bench::render
