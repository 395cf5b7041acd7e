// SPDX-License-Identifier: MIT
//
// Writes fields of protobuf: a trace needs numbers, texts and messages, so there is no library.
// https://protobuf.dev/programming-guides/encoding describes the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace syscost::session::protobuf {

inline void put_number(std::string& out, std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7) out += static_cast<char>(value | kMore);
  out += static_cast<char>(value);
}

// Kinds of fields.
inline constexpr std::uint32_t kNumber = 0;
inline constexpr std::uint32_t kBytes = 2;

inline void put(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_number(out, field << 3 | kNumber);
  put_number(out, value);
}
inline void put(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_number(out, field << 3 | kBytes);
  put_number(out, bytes.size());
  out += bytes;
}

}  // namespace syscost::session::protobuf
