// SPDX-License-Identifier: MIT
//
// Finds the call sites of libc that may be patched, and proves that each is safe.
//
// A site is patched by writing a jump over the one instruction right before its `syscall`: `mov $1,%eax` in most of
// libc. Code that jumps to that instruction finds our jump instead. Code that jumps to the `syscall` after it still
// finds the `syscall`, and is dispatched. No code jumps into the middle of an instruction. So the proof of the site
// needs only the places where instructions begin: decoding from the start of the function (found in the unwind table)
// must arrive exactly at both.
//
// Five bytes hold a jump to anywhere. If the instruction has two to four bytes (`xor %eax,%eax` before read's
// `syscall`), its first two hold a jump to somewhere near: to five bytes of padding, the *bridge*, which hold a jump to
// anywhere. Decision 0034 says why nothing else executes a bridge. Only libc is patched: it is never unloaded, and all
// the hot calls are in it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backends/dispatch/instructions.h"

namespace syscost::dispatch {

inline constexpr std::size_t kJumpBytes = 5;
inline constexpr std::size_t kShortJumpBytes = 2;

/// A site proven safe to patch.
struct Site {
  unsigned char* displaced = nullptr;  ///< The instruction before `syscall`; the jump goes here.
  std::size_t displaced_bytes = 0;
  const unsigned char* return_address = nullptr;  ///< Right after the `syscall`.
  unsigned char* bridge = nullptr;                ///< The target of a short jump; null = the jump is a long one.
  bool is_split = false;  ///< The jump crosses a cache line: other processors may fetch its bytes in two pieces.
};

/// Why a site is not patched.
enum class Refusal {
  unknown_code,   ///< The function is in no unwind table, or cannot be decoded.
  ends_a_signal,  ///< Unwinders recognise the return from a signal by its bytes.
  cannot_move,    ///< The instruction before the `syscall` depends on its address.
  no_bridge,      ///< No padding nearby is proven to be unused.
};
inline constexpr std::size_t kRefusals = 4;
/// Returns the reason as text: "at ...", for one site or many.
const char* describe(Refusal why);

struct Sites {
  std::vector<Site> proven;  ///< In order of address.
  std::array<unsigned, kRefusals> refused = {};

  std::size_t total() const;
};

/// Examines every call site in `text`. Reads code and changes nothing.
Sites prove_sites(const Text& text, FindFunction find);

/// A site that needs a bridge, and the padding where one may be.
struct BridgeWish {
  Site site;
  FunctionCode function;
  std::vector<Padding> between_functions;  ///< Near the site.
};

/// Finds five bytes of padding for each short jump, and proves that nothing else executes them. Sets `bridge` of each
/// site that gets one.
void find_bridges(const Text& text, FindFunction find, std::vector<BridgeWish>& wishes);

}  // namespace syscost::dispatch
