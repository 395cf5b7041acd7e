// SPDX-License-Identifier: MIT
//
// terminal: the room on a terminal, the columns that a text takes, and colour.
//
// A terminal has an end at the right and one below; a file and a pipe have none. Bytes are not columns: a CJK character
// takes two, a combining accent none, a colour code none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace syscost::bench::render {

/// From here on there is room for more than a terminal of 80 columns has.
inline constexpr std::size_t kWideScreen = 100;

struct Screen {
  std::size_t width = 0;   ///< Columns; 0: any number.
  std::size_t height = 0;  ///< Lines; 0: any number.
};

/// Returns the screen of standard output. For a terminal, COLUMNS and LINES decide; without them the terminal itself
/// does; without its answer it is 80 x 24.
Screen screen_of_stdout();

/// False where the user wants no colour (NO_COLOR), or the terminal takes none (TERM=dumb).
bool user_takes_color();

/// Columns that UTF-8 `text` takes. Colour codes (Paint's) take none.
std::size_t display_width(std::string_view text);

/// `text` in at most `width` columns (at least 4): the middle gives way to `...`, for names differ at both ends.
std::string shortened_middle(std::string_view text, std::size_t width);
/// The same at the end. A colour code that was open is closed.
std::string shortened_end(std::string_view text, std::size_t width);

/// Breaks each line of `text` that is wider than `width` at blanks; what follows is indented by `indent` more than the
/// line. `width` 0: nothing is broken. A word that is wider stays whole.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// Colour on a terminal, plain text elsewhere.
class Paint {
 public:
  explicit Paint(bool is_on) : is_on_(is_on) {}

  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string red(std::string_view text) const { return wrap("31", text); }
  std::string green(std::string_view text) const { return wrap("32", text); }
  std::string yellow(std::string_view text) const { return wrap("33", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    if (!is_on_) return std::string(text);
    std::string out = "\033[";
    out += code;
    out += 'm';
    out += text;
    return out + "\033[0m";
  }

  bool is_on_;
};

}  // namespace syscost::bench::render
