// SPDX-License-Identifier: MIT
//
// Decodes x86-64 code: where each instruction begins, and where it leads.
//
// It knows all instructions that compilers emit. An instruction that it does not know has no length. A test compares
// every instruction of libc with libZydis.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::dispatch {

inline constexpr std::size_t kLongestInstruction = 15;

/// Where control goes after an instruction.
enum class Flow : std::uint8_t {
  next,           ///< To the next instruction.
  call,           ///< To the next instruction, too, unless the called function never returns.
  branch,         ///< To the next instruction, or to its target.
  jump,           ///< To its target.
  indirect_jump,  ///< To an address in a register or in memory.
  ends,           ///< Nowhere in this function: a return, ud2.
  kernel,         ///< Into the kernel: syscall, sysenter, int.
};

struct Instruction {
  std::size_t bytes = 0;  ///< 0 = unknown.
  Flow flow = Flow::next;
  bool is_relative = false;  ///< Addresses memory relative to itself.
  bool is_nop = false;

  bool never_goes_on() const { return flow == Flow::jump || flow == Flow::indirect_jump || flow == Flow::ends; }
  /// True if it does the same at another address, and continues with the next instruction.
  bool may_move() const { return flow == Flow::next && !is_relative; }
};

/// Decodes the instruction at `code`, in text that ends at `end`.
Instruction decode(const unsigned char* code, const unsigned char* end);

}  // namespace syscost::dispatch
