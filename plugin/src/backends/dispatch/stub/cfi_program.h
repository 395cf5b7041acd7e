// SPDX-License-Identifier: MIT
//
// The programs of unwind tables (cfi.h): run as far as one instruction of a function, they say where its caller's
// registers are there.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/cfi_reader.h"

namespace syscost::signal_safe::cfi {

inline constexpr std::uint64_t kRbp = 6;  // The numbers of registers in the tables.
inline constexpr std::uint64_t kRsp = 7;
inline constexpr std::uint64_t kRip = 16;
inline constexpr std::uint64_t kRdi = 5;

/// What all functions of one compiler's making have in common: a CIE.
struct Common {
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  unsigned char pointers = 0;
  bool is_signal = false;
  bool has_more = false;    ///< Each entry has a length of data that is not needed here.
  std::uint64_t begin = 0;  ///< Of its program.
  std::uint64_t end = 0;
};

/// Reads the CIE at `at`. False for one that is not understood.
bool read_common(FileMemory& memory, std::uint64_t at, Common& common);

/// What holds at one instruction.
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
