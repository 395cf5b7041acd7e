// SPDX-License-Identifier: MIT
#include "render/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "render/terminal.h"

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

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_word(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

/// True if text[at] could begin or end markup: CommonMark's, GitHub's strikethrough, formulas and bare links.
bool is_markup(std::string_view text, std::size_t at) {
  const char next = at + 1 < text.size() ? text[at + 1] : ' ';
  switch (text[at]) {
    case '\\':
    case '`':
    case '*':
    case '|':
    case '~':
    case '$':
      return true;
    case '_':  // inside a word it is a letter
      return at == 0 || !is_word(text[at - 1]) || !is_word(next);
    case ']':  // what stands in brackets is a link only where something follows
      return next == '(' || next == '[' || next == ':';
    case '<':
      return next == '/' || next == '!' || next == '?' || is_letter(next);
    case '&':
      return next == '#' || is_word(next);
    case ':':
      return next == '/';
    case '.':
      return at >= 3 && text.substr(at - 3, 3) == "www";
    default:
      return false;
  }
}

/// True if a name of a person or a team may follow, which GitHub would notify.
bool is_mention(std::string_view text, std::size_t at) {
  const bool begins = at == 0 || !is_word(text[at - 1]);
  return text[at] == '@' && begins && at + 1 < text.size() && is_word(text[at + 1]);
}

}  // namespace

std::string code_span(std::string_view name) {
  if (name.empty()) return {};
  const bool is_awkward =
      name.find_first_of("`|") != std::string_view::npos || name.front() == ' ' || name.back() == ' ';
  if (!is_awkward) return fmt::format("`{}`", name);
  // Backquotes cannot hold these characters everywhere. The HTML element can, and no character of the name is markup in
  // it.
  std::string out = "<code>";
  for (const char c : name) {
    if (is_word(c) || is_beyond_ascii(c)) {
      out += c;
    } else {
      out += fmt::format("&#{};", static_cast<int>(c));
    }
  }
  return out + "</code>";
}

std::string escaped_markdown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_markup(text, i)) out += '\\';
    out += text[i];
    // GitHub reads a mention from the text after its markup, so a backslash would not prevent it.
    if (is_mention(text, i)) out += "&#8203;";
  }
  return out;
}

std::string escaped_lines(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out += escaped_markdown(lines.substr(0, end)) + '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

std::string code_block(std::string_view lines) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : lines) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}\n{}{}\n", fence, lines, fence);
}

namespace {

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t times = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++times;
  return times;
}

/// The fence of a code block that the last line is in; "" outside of one.
std::string_view open_fence(std::string_view text) {
  std::string_view fence;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::string_view ticks = line.substr(0, std::min(line.find_first_not_of('`'), line.size()));
    if (ticks.size() >= 3 && (fence.empty() || ticks.size() >= fence.size())) fence = fence.empty() ? ticks : "";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return fence;
}

}  // namespace

std::string capped_markdown(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  constexpr std::size_t kForTheEnd = 400;
  const std::size_t room = most > kForTheEnd ? most - kForTheEnd : 0;
  const std::size_t end = room == 0 ? 0 : text.rfind('\n', room - 1) + 1;  // 0 where there is no line feed
  const std::string_view kept = std::string_view(text).substr(0, end);
  const std::size_t left_out = count_of(std::string_view(text).substr(end), "\n");
  std::string closing;
  if (const std::string_view fence = open_fence(kept); !fence.empty()) closing = std::string(fence) + '\n';
  const std::size_t open =
      count_of(kept, "<details>") - std::min(count_of(kept, "<details>"), count_of(kept, "</details>"));
  closing += '\n';
  for (std::size_t i = 0; i < open; ++i) closing += "</details>\n\n";
  closing += fmt::format(
      "**Cut: {} more line{} of {} bytes in all do not fit into {} bytes** (--max-bytes; --format json has "
      "everything).\n",
      left_out, left_out == 1 ? "" : "s", text.size(), most);
  return std::string(kept) + closing;
}

}  // namespace syscost::bench::render
