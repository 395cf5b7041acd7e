// SPDX-License-Identifier: MIT
#include "render/table.h"

#include <algorithm>
#include <numeric>

#include "render/markdown.h"
#include "render/text_width.h"

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

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const TableColumn& column : columns_) widths.push_back(display_width(column.title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

std::size_t Table::width(std::size_t gap, std::size_t first_gap) const {
  const std::vector<std::size_t> widths = this->widths();
  const std::size_t gaps = columns_.size() < 2 ? 0 : first_gap + gap * (columns_.size() - 2);
  return std::accumulate(widths.begin(), widths.end(), gaps);
}

std::string Table::text(std::size_t gap, std::size_t first_gap, std::size_t width) const {
  std::vector<std::size_t> widths = this->widths();
  const auto total = [&] {
    const std::size_t gaps = columns_.size() < 2 ? 0 : first_gap + gap * (columns_.size() - 2);
    return std::accumulate(widths.begin(), widths.end(), gaps);
  };
  const auto excess = [&] { return width == 0 || total() <= width ? 0 : total() - width; };
  if (excess() != 0) first_gap = std::min<std::size_t>(first_gap, 2);
  if (excess() != 0) gap = first_gap = 1;
  // Notes at the end first, then names, then both further.
  struct Step {
    Shrinks which;
    std::size_t least;
  };
  for (const Step& step : {Step{Shrinks::at_the_end, 24}, Step{Shrinks::in_the_middle, 28},
                           Step{Shrinks::at_the_end, 12}, Step{Shrinks::in_the_middle, 12}}) {
    for (std::size_t i = columns_.size(); i-- > 0;) {
      const std::size_t least = std::max(step.least, display_width(columns_[i].title));
      if (columns_[i].shrinks != step.which || widths[i] <= least) continue;
      widths[i] -= std::min(excess(), widths[i] - least);
    }
  }
  std::string out;
  auto append_line = [&](auto cell_of) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::string cell = cell_of(i);
      if (width != 0) {
        cell = columns_[i].shrinks == Shrinks::in_the_middle ? shortened_middle(cell, widths[i])
                                                             : shortened_end(cell, widths[i]);
      }
      const std::size_t pad = widths[i] - std::min(widths[i], display_width(cell));
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
