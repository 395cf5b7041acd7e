// SPDX-License-Identifier: MIT
#include "cli/help.h"

#include <algorithm>
#include <string_view>

#include "render/terminal.h"

namespace syscost::bench::cli {
namespace {

constexpr std::size_t kWidth = 80;
/// No description begins farther right. A text farther right is the second column of an example.
constexpr std::size_t kFarthest = 50;

/// `  --option X     what it does`: how many columns after the margin the description begins; 4 without one.
std::size_t description_begin(std::string_view line, std::size_t margin) {
  const std::size_t gap = std::min(line.find("  ", margin), line.size());
  const std::size_t begin = line.find_first_not_of(' ', gap);
  return begin > kFarthest ? 4 : begin - margin;  // npos is farther, too
}

/// `Usage: ...`, `Exit codes: ...`: such a line does not continue the line above it.
bool is_titled(std::string_view line) {
  constexpr std::size_t kLongest = 16;
  const std::size_t colon = line.find(": ");
  return colon <= kLongest && line.substr(0, colon).find_first_of("`.,()") == std::string_view::npos;
}

}  // namespace

std::string fitted_help(const std::string& help) {
  std::string out;
  std::string paragraph;
  bool is_wide = false;
  const auto close = [&] {
    if (is_wide) {
      for (char& c : paragraph) c = c == '\n' ? ' ' : c;
      paragraph.back() = '\n';
    }
    out += render::wrapped(paragraph, kWidth, 0);
    paragraph.clear();
    is_wide = false;
  };
  for (std::string_view left = help; !left.empty();) {
    const std::string line(left.substr(0, left.find('\n')));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    if (!line.empty() && line.front() != ' ') {
      if (!paragraph.empty() && is_titled(line)) close();
      paragraph += line + '\n';
      is_wide = is_wide || line.size() > kWidth;
      continue;
    }
    if (!paragraph.empty()) close();
    const std::size_t margin = line.find_first_not_of(' ');
    const bool goes_on = margin != std::string::npos && margin > 8;
    out += margin == std::string::npos
               ? "\n"
               : render::wrapped(line + '\n', kWidth, goes_on ? 0 : description_begin(line, margin));
  }
  if (!paragraph.empty()) close();
  return out;
}

}  // namespace syscost::bench::cli
