// SPDX-License-Identifier: MIT
//
// Where the instructions of x86-64 code begin, and where each of them leads.
//
// Complete for what compilers emit; what this does not know has no length. A test compares every instruction of libc
// with libZydis.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::dispatch {

inline constexpr std::size_t kLongestInstruction = 15;

/// Where control goes after an instruction.
enum class Flow : std::uint8_t {
  next,           ///< To the next instruction.
  call,           ///< There too, unless what it calls never returns.
  branch,         ///< To the next instruction, or to its target.
  jump,           ///< To its target.
  indirect_jump,  ///< Where a register or memory says.
  ends,           ///< Nowhere in this function: a return, ud2.
  kernel,         ///< syscall and its like.
};

struct Instruction {
  std::size_t bytes = 0;  ///< 0 = unknown.
  Flow flow = Flow::next;
  bool is_relative = false;  ///< Addresses memory relative to itself.
  bool is_nop = false;

  bool never_goes_on() const { return flow == Flow::jump || flow == Flow::indirect_jump || flow == Flow::ends; }
  /// Does the same elsewhere, and continues with the next instruction.
  bool may_move() const { return flow == Flow::next && !is_relative; }
};

/// The instruction at `code`, which ends before `end`.
Instruction decode(const unsigned char* code, const unsigned char* end);

}  // namespace syscost::dispatch
