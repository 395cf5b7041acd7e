// SPDX-License-Identifier: MIT
//
// Text of messages and files that people read: names that someone else chose, numbers, and flags as the user types
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace syscost {

// Text that someone else chose, safe to print.
//
// The writer of a file chooses its test names, hosts and paths, and the author of a program its name. A control
// character among them could recolour a terminal or rewrite the lines above, a bidirectional override could show a name
// backwards, a character without width makes two names look like one, and a byte that is not UTF-8 breaks programs that
// read our output. So people, and readers of bench's CSV, see `\x1b` or `\u202e` in their place. JSON has escapes of
// its own.

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = true;  ///< False for one byte that does not begin a character of UTF-8; `code` is the byte.
};

/// The first character of `text`, which is not empty.
Character first_character(std::string_view text);

/// Characters `first` to `last`.
struct CharacterRange {
  char32_t first;
  char32_t last;
};

/// True when a range of `table`, which is sorted, holds `code`.
template <class Table>
bool holds(const Table& table, char32_t code) {
  const auto range = std::lower_bound(table.begin(), table.end(), code,
                                      [](const CharacterRange& one, char32_t c) { return one.last < c; });
  return range != table.end() && range->first <= code;
}

/// Control characters (C0, DEL, C1), and what has no shape of its own or changes that of others: Unicode's default
/// ignorable characters, bidirectional controls, line and paragraph separators.
bool is_unseen(char32_t code);

/// `text` with each byte that is not UTF-8 and each ASCII control character as `\x1b`, other unseen characters as
/// `\u202e` (`\U000e0041` beyond four digits). For reading, not for turning back.
std::string printable(std::string_view text);

/// The same, but line feeds stay.
std::string printable_lines(std::string_view text);

// Numbers with a fraction as text, and back, with a point in every locale.
//
// printf() and strtod() follow setlocale(), which a test may call: "1,60 ms". But programs read our numbers, and people
// who run many tests compare them.

/// As printf's "%.*f".
std::string decimal_text(double value, int decimals);
/// As printf's "%.*g".
std::string significant_text(double value, int digits);

/// The whole of `text` as a number; none if it is not one. No spaces, no hexadecimal numbers.
std::optional<double> number_of_text(std::string_view text);

// Flags in messages, as the user types them.
//
// A test program that is linked with syscost has `--syscost_backend`, and `bench run` has `--backend`. The parts of
// syscost that write messages do not know which of the two was typed. They name the flag of a linked program, and a
// message goes through as_typed() when it is printed.

/// From now on flags have no prefix: `bench run` started this process. Keeps the prefix after name_flags_with_prefix().
void name_flags_without_prefix();

/// This program itself got a flag with the prefix.
void name_flags_with_prefix();

/// `text` with `--backend` for `--syscost_backend`, if flags have no prefix.
std::string as_typed(std::string_view text);

}  // namespace syscost
