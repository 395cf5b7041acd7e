// SPDX-License-Identifier: MIT
//
// text: small functions on texts. They make a text safe to print, and cut the blanks around it, or what another program
// adds when it saves a file.
#pragma once

#include <cstddef>
#include <string_view>

#include "os/text.h"

namespace syscost::bench::csv {

// These make a text safe to print. The library's messages use the same functions.

using syscost::Character;
using syscost::CharacterRange;
using syscost::first_character;
using syscost::holds;
using syscost::is_unseen;
using syscost::printable;
using syscost::printable_lines;

inline constexpr std::string_view kBlanks = " \t";

/// Text without the blanks around it.
inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Some editors put it before the text of a file.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

inline std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

/// A line, which has no line feed any more, without the carriage return of Windows: git's autocrlf adds them.
inline std::string_view without_carriage_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace syscost::bench::csv
