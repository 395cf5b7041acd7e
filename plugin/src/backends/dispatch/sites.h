// SPDX-License-Identifier: MIT
//
// Which call sites may be patched, and how that is known.
//
// A site is patched by writing a near jump over the one instruction right before its `syscall`, if that is five bytes
// or longer: `mov $1,%eax` in most of libc. Code that jumps to that instruction finds our jump instead. Code that jumps
// to the `syscall` after it still finds the `syscall`, and is dispatched. No code jumps into the middle of an
// instruction. So the proof needs only the places where instructions begin: decoding from the start of the function
// (found in the unwind table) must arrive exactly at both. This file decodes compilers' usual prologues; libZydis, if
// installed, decodes the rest. Only libc is patched: it is never unloaded, and all the hot calls are in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace syscost::dispatch {

inline constexpr std::size_t kLongestInstruction = 15;
inline constexpr std::size_t kJumpBytes = 5;

/// A site proven safe to patch.
struct Site {
  unsigned char* displaced = nullptr;  ///< The instruction before `syscall`; the jump goes here.
  std::size_t displaced_bytes = 0;
  const unsigned char* return_address = nullptr;  ///< Right after the `syscall`.
};

/// The proof for the site that returns to `return_address`, or nothing. Reads code, allocates nothing.
std::optional<Site> prove_site(const unsigned char* return_address);

/// True when libZydis could be loaded: more sites can be proven. Loads it at the first call.
bool has_disassembler();

/// The text of libc that prove_site() accepts, [begin, end); both null when there is none.
struct Text {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
  const char* path = "";         ///< Of libc's file.
  std::int64_t file_offset = 0;  ///< Of `begin`.
};
Text libc_text();

}  // namespace syscost::dispatch
