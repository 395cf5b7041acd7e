// SPDX-License-Identifier: MIT
//
// Screen: the room there is for output. A terminal has an end at the right and one below; a file and a pipe have none.
#pragma once

#include <cstddef>

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

}  // namespace syscost::bench::render
