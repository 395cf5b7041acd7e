// SPDX-License-Identifier: MIT
#include "render/xml.h"

#include <fmt/format.h>

#include "csv/printable.h"

namespace syscost::bench::render {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// XML 1.0, production Char.
bool is_allowed(char32_t code) {
  return code == 0x9 || code == 0xA || code == 0xD || (code >= 0x20 && code < 0xD800) ||
         (code >= 0xE000 && code <= 0x10FFFF && code != 0xFFFE && code != 0xFFFF);
}

}  // namespace

std::string escaped_xml(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const csv::Character one = csv::first_character(text);
    switch (one.code) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out += fmt::format("&#{};", static_cast<unsigned>(one.code));
        break;
      default:
        out += one.is_valid && is_allowed(one.code) ? text.substr(0, one.bytes) : kReplacement;
    }
    text.remove_prefix(one.bytes);
  }
  return out;
}

}  // namespace syscost::bench::render
