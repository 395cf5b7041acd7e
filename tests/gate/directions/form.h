// SPDX-License-Identifier: MIT
//
// Each test of this program has two forms: the code before a change, and after it. The variable DIRECTIONS_FORM, `old`
// or `new`, says which one runs. All tests run in an empty folder, which the program removes at its end.
#pragma once

#include <string>
#include <string_view>

namespace directions {

/// True for the form after the change.
bool is_new();

/// Makes a file of `size` bytes in the folder of the tests.
void make_file(const char* name, std::size_t size);

/// Writes all of `text`.
void write_all(int file, std::string_view text);

}  // namespace directions
