// SPDX-License-Identifier: MIT
//
// Reads the numbers of unwind tables (cfi.h), one after the other.
#pragma once

#include <cstdint>

namespace syscost::signal_safe::cfi {

class Reader {
 public:
  explicit Reader(const unsigned char* at) : at_(at) {}

  const unsigned char* at() const { return at_; }
  void skip(std::uint64_t bytes) { at_ += bytes; }

  template <class T>
  T number() {
    T value;
    __builtin_memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  unsigned char byte() { return *at_++; }

  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const unsigned char part = byte();
      if (shift < 64) value |= std::uint64_t{part & 0x7fU} << shift;
      if ((part & 0x80) == 0) return value;
    }
  }
  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const unsigned char part = byte();
      if (shift < 64) value |= std::uint64_t{part & 0x7fU} << shift;
      shift += 7;
      if ((part & 0x80) != 0) continue;
      if (shift < 64 && (part & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  /// A pointer of DW_EH_PE_... `encoding`. Those of x86-64's compilers only; else 0, and `failed` is set.
  std::uint64_t pointer(unsigned char encoding, bool& failed) {
    const auto here = reinterpret_cast<std::uint64_t>(at_);
    std::uint64_t value = 0;
    switch (encoding & 0xf) {
      case 0x0:
      case 0x4:
      case 0xc:
        value = number<std::uint64_t>();
        break;
      case 0x3:
        value = number<std::uint32_t>();
        break;
      case 0xb:
        value = static_cast<std::uint64_t>(std::int64_t{number<std::int32_t>()});
        break;
      default:
        failed = true;
        return 0;
    }
    constexpr unsigned char kFromHere = 0x10;
    const unsigned char base = encoding & 0x70;
    if (base != 0 && base != kFromHere) failed = true;
    return base == kFromHere ? here + value : value;
  }

 private:
  const unsigned char* at_;
};

/// The length that each entry begins with; 0 = the end of the table.
inline std::uint64_t length_of(Reader& in) {
  const std::uint64_t length = in.number<std::uint32_t>();
  constexpr std::uint64_t kLong = 0xffff'ffff;
  return length == kLong ? in.number<std::uint64_t>() : length;
}

}  // namespace syscost::signal_safe::cfi
