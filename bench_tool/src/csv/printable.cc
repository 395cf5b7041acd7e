// SPDX-License-Identifier: MIT
#include "csv/printable.h"

#include <fmt/format.h>

namespace syscost::bench::csv {

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {  // U+0080..U+009F, in two bytes
      out += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace syscost::bench::csv
