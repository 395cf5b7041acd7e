// SPDX-License-Identifier: MIT
#include "trace/protobuf.h"

#include <limits>

namespace syscost::bench::trace {
namespace {

enum Kind : std::uint32_t { kNumber = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

}  // namespace

bool Message::take_number(std::uint64_t& value) {
  constexpr unsigned kBits = 7;
  constexpr unsigned kMost = 64;
  value = 0;
  for (unsigned shift = 0; shift < kMost && !rest_.empty(); shift += kBits) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) return true;
  }
  return false;
}

bool Message::take_bytes(std::uint64_t size, std::string_view& bytes) {
  if (size > rest_.size()) return false;
  bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool Message::next(Field& field) {
  if (rest_.empty() || is_broken_) return false;
  field = {};
  std::uint64_t key = 0;
  std::uint64_t size = 0;
  bool is_read = take_number(key) && key >> 3 <= std::numeric_limits<std::uint32_t>::max();
  field.number = static_cast<std::uint32_t>(key >> 3);
  switch (key & 7U) {
    case kNumber:
      is_read = is_read && take_number(field.value);
      break;
    case kBytes:
      field.is_bytes = true;
      is_read = is_read && take_number(size) && take_bytes(size, field.bytes);
      break;
    case kEightBytes:
      is_read = is_read && take_bytes(8, field.bytes);
      break;
    case kFourBytes:
      is_read = is_read && take_bytes(4, field.bytes);
      break;
    default:
      is_read = false;
  }
  is_broken_ = !is_read;
  return is_read;
}

}  // namespace syscost::bench::trace
