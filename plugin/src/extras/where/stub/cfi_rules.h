// SPDX-License-Identifier: MIT
//
// The rules of addresses (cfi.h): reads unwind tables, runs the programs in them, and keeps each rule for all threads.
//
// Nothing but an exception ever reads these tables, so a file may have any bytes there: packers and obfuscators leave
// such files. A pointer in them may lead anywhere, and another thread may unload the file meanwhile. So the kernel
// copies each byte (user_memory.h), from inside the file only.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/user_memory.h"
#include "extras/where/stub/cfi.h"
#include "extras/where/stub/common/where.h"

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

/// Reads the numbers of a table one after the other. A number that cannot be read is 0, and is_ok() says so: look at it
/// before you use a number.
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

// The programs of unwind tables: run as far as one instruction of a function, they say where its caller's registers are
// there.

inline constexpr std::uint64_t kRbp = 6;  // The numbers of registers in the tables.
inline constexpr std::uint64_t kRsp = 7;
inline constexpr std::uint64_t kRip = 16;
inline constexpr std::uint64_t kRdi = 5;

/// The part of the tables that all functions of one compiler's making have in common: a CIE.
struct Common {
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  unsigned char pointers = 0;
  bool is_signal = false;
  bool has_more = false;    ///< Each entry has a length of data that is not needed here.
  std::uint64_t begin = 0;  ///< Its program's.
  std::uint64_t end = 0;
};

/// Reads the CIE at `at`. False for one that is not understood.
bool read_common(FileMemory& memory, std::uint64_t at, Common& common);

/// Where the registers are at one instruction.
struct Row {
  enum class Place : std::uint8_t { same, in_frame, expression, in_register, undefined, other };
  std::uint64_t cfa_register = kRsp;
  std::int64_t cfa_offset = 0;
  std::uint64_t cfa_expression = 0;  ///< Where it stands, with its length before it; 0 = none. So for the others.
  Place rbp = Place::same;
  Place rip = Place::same;
  std::int64_t rbp_offset = 0;
  std::int64_t rip_offset = 0;
  std::uint64_t rbp_expression = 0;
  std::uint64_t rip_expression = 0;
  std::uint64_t rip_register = 0;
};

/// Member by member: a call of memcpy must not come of it.
__attribute__((always_inline)) inline void copy_row(Row& to, const Row& from) {
  to.cfa_register = from.cfa_register;
  to.cfa_offset = from.cfa_offset;
  to.cfa_expression = from.cfa_expression;
  to.rbp = from.rbp;
  to.rip = from.rip;
  to.rbp_offset = from.rbp_offset;
  to.rip_offset = from.rip_offset;
  to.rbp_expression = from.rbp_expression;
  to.rip_expression = from.rip_expression;
  to.rip_register = from.rip_register;
}

inline constexpr std::uint32_t kMostRemembered = 6;

/// The program of an entry, as far as one instruction.
class Program {
 public:
  Program(FileMemory& memory, const Common& common, const Row& initial)
      : memory_(memory), common_(common), initial_(initial) {}

  /// Runs [begin, end) on `row`, from the instruction at `location` on, until one past `goal`. False for a program that
  /// is not understood.
  bool run(std::uint64_t begin, std::uint64_t end, std::uint64_t location, std::uint64_t goal, Row& row);

 private:
  /// Wraps where the table says nonsense.
  std::int64_t scaled(std::uint64_t number) const {
    return static_cast<std::int64_t>(number * static_cast<std::uint64_t>(common_.data_unit));
  }
  bool run_one(std::uint64_t code, Reader& in, std::uint64_t location, std::uint64_t& advance, Row& row);

  FileMemory& memory_;
  const Common& common_;
  const Row& initial_;
  Row remembered_[kMostRemembered];
  std::uint32_t depth_ = 0;
};

}  // namespace syscost::signal_safe::cfi

namespace syscost::signal_safe {

/// The rule of the instruction that the byte at `address` belongs to: one that is kept, or a new one of read_rule().
/// Runs on the walker's stack, like unwind().
Rule rule_at(Walker& walker, std::uint64_t address);

}  // namespace syscost::signal_safe
