// SPDX-License-Identifier: MIT
#include "render/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "csv/text.h"

namespace syscost::bench::render {
namespace {

constexpr std::size_t kNarrowest = 40;  // below that a table is no table
constexpr std::size_t kUsualWidth = 80;
constexpr std::size_t kUsualHeight = 24;

/// The number in a variable of the environment; 0 if there is none.
std::size_t number_of(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string_view text = value == nullptr ? "" : value;
  std::size_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size() ? number : 0;
}

}  // namespace

Screen screen_of_stdout() {
  if (::isatty(STDOUT_FILENO) != 1) return {};
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  Screen screen{number_of("COLUMNS"), number_of("LINES")};
  if (screen.width == 0) screen.width = size.ws_col == 0 ? kUsualWidth : size.ws_col;
  if (screen.height == 0) screen.height = size.ws_row == 0 ? kUsualHeight : size.ws_row;
  if (screen.width < kNarrowest) screen.width = kNarrowest;
  return screen;
}

bool user_takes_color() {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: any non-empty value
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) != "dumb";
}

namespace {

/// Sorted. Unicode 14: East_Asian_Width W and F; gaps of a few characters are closed. A table of ours, because
/// wcwidth() follows the locale, and bench's output must not.
constexpr std::array<csv::CharacterRange, 68> kWide = {
    {{0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
     {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
     {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
     {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
     {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
     {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
     {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
     {0x2E80, 0x3247},   {0x3250, 0x4DBF},   {0x4E00, 0xA4C6},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},
     {0xF900, 0xFAD9},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6B},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
     {0x16FE0, 0x18D08}, {0x1AFF0, 0x1B2FB}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F19A},
     {0x1F200, 0x1F265}, {0x1F300, 0x1F320}, {0x1F32D, 0x1F393}, {0x1F3A0, 0x1F3D3}, {0x1F3E0, 0x1F53D},
     {0x1F54B, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F},
     {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7F0},
     {0x1F90C, 0x1F9FF}, {0x1FA70, 0x1FAF6}, {0x20000, 0x3FFFD}}};

/// Sorted. Marks that stand on the character before them, of the scripts in which names are likely to have them.
constexpr std::array<csv::CharacterRange, 22> kOnTop = {
    {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05BF}, {0x05C1, 0x05C2}, {0x05C4, 0x05C5},
     {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x093C, 0x093C}, {0x0941, 0x0948},
     {0x094D, 0x094D}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
     {0x20D0, 0x20F0}, {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE20, 0xFE2F}}};

constexpr std::string_view kDots = "...";
constexpr std::string_view kReset = "\033[0m";

/// One character, or one colour code.
struct Piece {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

Piece first_piece(std::string_view text) {
  if (const auto byte = static_cast<unsigned char>(text[0]); byte != 0x1B && byte < 0x80) return {1, 1};
  if (text.starts_with("\033[")) return {std::min(text.size(), text.find('m') + 1), 0};
  const csv::Character one = csv::first_character(text);
  if (csv::holds(kOnTop, one.code)) return {one.bytes, 0};
  return {one.bytes, csv::holds(kWide, one.code) ? std::size_t{2} : std::size_t{1}};
}

/// The longest beginning that fits, with its colour codes.
std::string_view beginning(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t columns = 0; at < text.size();) {
    const Piece piece = first_piece(text.substr(at));
    columns += piece.columns;
    if (columns > width) break;
    at += piece.bytes;
  }
  return text.substr(0, at);
}

/// The longest end that fits.
std::string_view ending(std::string_view text, std::size_t width) {
  std::size_t columns = display_width(text);
  while (columns > width) {
    const Piece piece = first_piece(text);
    columns -= piece.columns;
    text.remove_prefix(piece.bytes);
  }
  return text;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    columns += piece.columns;
    text.remove_prefix(piece.bytes);
  }
  return columns;
}

std::string shortened_middle(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  const std::size_t left = std::max(width, kDots.size() + 1) - kDots.size();
  // The end of a test's name tells more than its suite.
  const std::string_view first = beginning(text, left / 2);
  const std::string_view last = ending(text, left - display_width(first));
  return std::string(first).append(kDots).append(last);
}

std::string shortened_end(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out(beginning(text, std::max(width, kDots.size() + 1) - kDots.size()));
  out.append(kDots);
  if (const std::size_t code = out.rfind("\033["); code != std::string::npos && out.substr(code, 4) != kReset)
    out += kReset;
  return out;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  if (width == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t feed = text.find('\n');
    std::string_view line = text.substr(0, feed);
    text.remove_prefix(feed == std::string_view::npos ? text.size() : feed + 1);
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    const std::size_t margin = std::min(line.find_first_not_of(' '), line.size()) + indent;
    std::size_t used = 0;
    while (used + display_width(line) > width) {
      const std::string_view fits = beginning(line, width - std::min(used, width));
      // The blank after the last word that fits; not a blank of the margin.
      std::size_t blank = fits.size() == line.size() ? std::string_view::npos : line.rfind(' ', fits.size());
      const std::size_t first = line.find_first_not_of(' ');
      if (blank == std::string_view::npos || blank <= first) blank = line.find(' ', first);
      if (blank == std::string_view::npos) break;
      std::string_view part = line.substr(0, blank);
      part = part.substr(0, part.find_last_not_of(' ') + 1);
      out.append(part).append("\n");
      line.remove_prefix(std::min(line.find_first_not_of(' ', blank), line.size()));
      out.append(margin, ' ');
      used = margin;
    }
    out.append(line);
    if (feed != std::string_view::npos) out += '\n';
  }
  return out;
}

}  // namespace syscost::bench::render
