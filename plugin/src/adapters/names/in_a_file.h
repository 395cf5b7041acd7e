// SPDX-License-Identifier: MIT
//
// Names that look the same in a file: it has `\n` for a line break and `\xff` for a byte that is not UTF-8, and where
// bench prints it `\u200b` for a character without a shape.
//
// A header alone: a program may hold several adapters, each with its own objects. C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace syscost::names {
namespace detail {

/// The byte that the digit stands for; -1 if it is none.
inline int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The value of the `count` hexadecimal digits at `at`; none if they are not there.
inline std::optional<std::uint32_t> hexadecimal(const std::string& text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    const int digit = digit_of(text[i]);
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

/// Adds the character in UTF-8. False if there is none of this number.
inline bool append_character(std::string& out, std::uint32_t code) {
  constexpr std::uint32_t kLast = 0x10FFFF;
  if (code > kLast) return false;
  const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr unsigned kFirstBits[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kFirstBits[more] | (code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80U | ((code >> (6 * i)) & 0x3FU));
  return true;
}

/// Adds what the escape at `at`, a backslash, stands for in a file or where it is printed: the length of the escape. 0:
/// it is none.
inline std::size_t append_escape(std::string& out, const std::string& name, std::size_t at) {
  const char kind = at + 1 < name.size() ? name[at + 1] : ' ';
  if (kind == 'n' || kind == 'r' || kind == '0') {
    out += kind == 'n' ? '\n' : kind == 'r' ? '\r' : '\0';
    return 2;
  }
  const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  const std::optional<std::uint32_t> value = digits != 0 ? hexadecimal(name, at + 2, digits) : std::nullopt;
  if (!value) return 0;
  if (kind == 'x') {
    out += static_cast<char>(*value);
    return 2 + digits;
  }
  return append_character(out, *value) ? 2 + digits : 0;
}

}  // namespace detail

/// Equal for names that look the same in a file, or where bench prints it.
inline std::string in_a_file(const std::string& name) {
  if (name.find('\\') == std::string::npos) return name;
  std::string bytes;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t length = name[i] == '\\' ? detail::append_escape(bytes, name, i) : 0;
    if (length == 0) bytes += name[i];
    i += length == 0 ? 1 : length;
  }
  return bytes;
}

}  // namespace syscost::names
