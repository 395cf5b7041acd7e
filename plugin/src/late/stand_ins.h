// SPDX-License-Identifier: MIT
//
// These run in place of the library's functions if libsyscost.so cannot be loaded and nothing was requested: a loop
// runs once, a measurement has the reason in place of a number, and an adapter hears that nothing was requested.
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
