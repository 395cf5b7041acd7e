// SPDX-License-Identifier: MIT
#include "os/text.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace syscost {
namespace {

/// Sorted. Unicode 15: Cc, Default_Ignorable_Code_Point, Bidi_Control, Zl, Zp, interlinear annotation.
constexpr std::array<CharacterRange, 20> kUnseen = {
    {{0x0000, 0x001F}, {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x061C, 0x061C},
     {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
     {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
     {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}, {0x110000, 0xFFFFFFFF}}};

bool is_plain_ascii(char c) {
  return c >= 0x20 && c < 0x7F;
}

void append_hex(std::string& out, const char* mark, std::uint32_t code, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += mark;
  while (digits-- > 0) out += kDigits[code >> (4 * digits) & 15U];
}

std::string escaped(std::string_view text, bool keeps_line_feeds) {
  // Almost every text is plain.
  if (std::all_of(text.begin(), text.end(), is_plain_ascii)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character one = first_character(text);
    const std::uint32_t code = one.code;
    if (one.is_valid && (!is_unseen(one.code) || (keeps_line_feeds && one.code == U'\n'))) {
      out += text.substr(0, one.bytes);
    } else if (!one.is_valid || code < 0x80) {
      append_hex(out, "\\x", code, 2);
    } else {
      append_hex(out, code <= 0xFFFF ? "\\u" : "\\U", code, code <= 0xFFFF ? 4 : 8);
    }
    text.remove_prefix(one.bytes);
  }
  return out;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const Character invalid{first, 1, false};
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return invalid;
  char32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return invalid;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  // Longer than needed, half of a pair of UTF-16, beyond Unicode.
  const bool is_none = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000) ||
                       (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF;
  return is_none ? invalid : Character{code, bytes, true};
}

bool is_unseen(char32_t code) {
  return holds(kUnseen, code);
}

std::string printable(std::string_view text) {
  return escaped(text, false);
}

std::string printable_lines(std::string_view text) {
  return escaped(text, true);
}

namespace {

std::string text_of(double value, std::chars_format format, int precision) {
  std::array<char, 400> text{};  // the largest number has 309 digits
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

}  // namespace

std::string decimal_text(double value, int decimals) {
  return text_of(value, std::chars_format::fixed, decimals);
}

std::string significant_text(double value, int digits) {
  return text_of(value, std::chars_format::general, digits);
}

std::optional<double> number_of_text(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

namespace {

enum class Names { of_linked_program, of_bench_run, of_this_program };
std::atomic<Names> g_names = Names::of_linked_program;

}  // namespace

void name_flags_without_prefix() {
  Names nothing_known = Names::of_linked_program;
  g_names.compare_exchange_strong(nothing_known, Names::of_bench_run);
}

void name_flags_with_prefix() {
  g_names = Names::of_this_program;
}

std::string as_typed(std::string_view text) {
  constexpr std::string_view kPrefixed = "--syscost_";
  std::string typed(text);
  if (g_names != Names::of_bench_run) return typed;
  for (std::size_t at = 0; (at = typed.find(kPrefixed, at)) != std::string::npos;) {
    typed.erase(at + 2, kPrefixed.size() - 2);
  }
  return typed;
}

}  // namespace syscost
