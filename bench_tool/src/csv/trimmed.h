// SPDX-License-Identifier: MIT
//
// Text without the blanks around it.
#pragma once

#include <cstddef>
#include <string_view>

namespace syscost::bench::csv {

inline constexpr std::string_view kBlanks = " \t";

inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace syscost::bench::csv
