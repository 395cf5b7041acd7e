// SPDX-License-Identifier: MIT
#include "render/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

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

}  // namespace syscost::bench::render
