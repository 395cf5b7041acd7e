// SPDX-License-Identifier: MIT
//
// Numbers with a fraction as text, and back, with a point in every locale.
//
// printf() and strtod() follow setlocale(), which a test may call: "1,60 ms". What syscost writes is read by people who
// run many tests, and by programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace syscost {

/// As printf's "%.*f".
std::string decimal_text(double value, int decimals);
/// As printf's "%.*g".
std::string significant_text(double value, int digits);

/// The whole of `text` as a number; none if it is not one. No spaces, no hexadecimal numbers.
std::optional<double> number_of_text(std::string_view text);

}  // namespace syscost
