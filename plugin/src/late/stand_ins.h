// SPDX-License-Identifier: MIT
//
// What runs in place of the library's functions where libsyscost.so cannot be loaded and nothing was asked for: a loop
// runs once, a measurement has no number but the reason, and an adapter is told that no one asked.
#pragma once

namespace syscost::late {

/// Why the library cannot be loaded, and what to do about it: two texts that stay.
struct Absence {
  const char* why;
  const char* remedy;
};
Absence absence();

/// Says so and ends the program with exit code 2.
[[noreturn]] void refuse();

}  // namespace syscost::late
