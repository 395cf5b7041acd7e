// SPDX-License-Identifier: MIT
//
// Reads the numbers of unwind tables (cfi.h), one after the other.
//
// Nothing but an exception ever reads these tables, so a file may have any bytes there: packers and obfuscators leave
// such files. A pointer in them may lead anywhere, and another thread may unload the file meanwhile. So each byte is
// copied by the kernel (user_memory.h), from inside the file only. What cannot be read is 0, and is_ok() says so: look
// at it before a number is used.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe::cfi {

/// The memory of one file, from its first segment to its last one.
class FileMemory {
 public:
  FileMemory(std::uint64_t begin, std::uint64_t end) : begin_(begin), end_(end) {}
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  bool byte_at(std::uint64_t address, unsigned char& value) {
    return address >= begin_ && address < end_ && bytes_.byte_at(address, value);
  }

 private:
  std::uint64_t begin_;
  std::uint64_t end_;
  UserBytes bytes_;
};

class Reader {
 public:
  Reader(FileMemory& memory, std::uint64_t at) : memory_(memory), at_(at) {}

  std::uint64_t at() const { return at_; }
  /// False if something that was read is not there.
  bool is_ok() const { return is_ok_; }
  void skip(std::uint64_t bytes) { at_ += bytes; }

  unsigned char byte() {
    unsigned char value = 0;
    if (!is_ok_ || !memory_.byte_at(at_, value)) is_ok_ = false;
    ++at_;
    return value;
  }
  template <class T>
  T number() {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < sizeof(T); ++i) value |= std::uint64_t{byte()} << (8 * i);
    return static_cast<T>(value);
  }

  std::uint64_t unsigned_leb() {
    unsigned shift = 0;
    return leb(shift);
  }
  std::int64_t signed_leb() {
    unsigned shift = 0;
    std::uint64_t value = leb(shift);
    if (shift < 64 && (value >> (shift - 1) & 1) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }

  /// A pointer of DW_EH_PE_... `encoding`. Those of x86-64's compilers only; else 0, and `failed` is set.
  std::uint64_t pointer(unsigned char encoding, bool& failed) {
    const std::uint64_t here = at_;
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
  /// `shift` gets 7 times the number of bytes. Longer ones than a number has bits are no numbers.
  std::uint64_t leb(unsigned& shift) {
    constexpr unsigned kMostBits = 70;
    std::uint64_t value = 0;
    for (;;) {
      const unsigned char part = byte();
      if (shift < 64) value |= std::uint64_t{part & 0x7fU} << shift;
      shift += 7;
      if ((part & 0x80) == 0) return value;
      if (shift >= kMostBits) is_ok_ = false;
      if (!is_ok_) return 0;
    }
  }

  FileMemory& memory_;
  std::uint64_t at_;
  bool is_ok_ = true;
};

/// The length that each entry begins with; 0 = the end of the table.
inline std::uint64_t length_of(Reader& in) {
  const std::uint64_t length = in.number<std::uint32_t>();
  constexpr std::uint64_t kLong = 0xffff'ffff;
  return length == kLong ? in.number<std::uint64_t>() : length;
}

}  // namespace syscost::signal_safe::cfi
