// SPDX-License-Identifier: MIT
#include "csv/row.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "os/errors.h"

namespace syscost::csv {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

/// Bytes of the UTF-8 character that `text` begins with; 0 when it does not begin with one.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  const unsigned char second = byte(1);
  const bool is_valid = (lead != 0xe0 || second >= 0xa0) && (lead != 0xed || second < 0xa0) &&
                        (lead != 0xf0 || second >= 0x90) && (lead != 0xf4 || second < 0x90);
  return is_valid ? length : 0;
}

/// True when field() leaves the text as it is, as it does with nearly all.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '"'; });
}

template <class String>
void append_visible(String& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(c);
      out += "\\x";
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 15];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\0') {
      out += "\\0";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  append_visible(out, text);
  return out;
}

void append_field(std::pmr::string& out, std::string_view text) {
  const bool is_quoted = text.find_first_of(",\"") != std::string_view::npos;
  if (!is_quoted) return append_visible(out, text);
  out += '"';
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('"'));
    append_visible(out, part);
    text.remove_prefix(part.size());
    if (text.empty()) break;
    out += "\"\"";
    text.remove_prefix(1);
  }
  out += '"';
}

const std::string& header_line() {
  static const std::string* line = [] {
    auto* text = new std::string;  // never destroyed: rows may be written while the program ends
    for (std::string_view name : schema::kColumnNames) {
      if (!text->empty()) *text += ',';
      *text += name;
    }
    *text += '\n';
    return text;
  }();
  return *line;
}

void Row::advance_to(schema::Column column) {
  const auto target = static_cast<std::size_t>(column);
  SYSCOST_CHECK(target >= next_);
  // A comma before every field but the first.
  out_.append(target + 1 - next_ - (next_ == 0 ? 1 : 0), ',');
  next_ = target + 1;
}

void Row::set(schema::Column column, std::string_view text) {
  if (text.empty()) return;
  advance_to(column);
  if (is_plain(text)) {
    out_ += text;
  } else {
    append_field(out_, text);
  }
}

void Row::set(schema::Column column, std::uint64_t number) {
  advance_to(column);
  std::array<char, 20> digits{};
  auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out_.append(digits.data(), end);
}

void Row::end() {
  advance_to(schema::Column::kEnd);
  out_ += schema::kEndMark;
  out_ += '\n';
}

}  // namespace syscost::csv
