// SPDX-License-Identifier: MIT
//
// What counts marks the cells that it touched in words of bits, so that reading touches no others.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace syscost {

/// Calls visit(index) for each set bit and clears the words. `Word` is an unsigned integer of 64 bits: the kernel's
/// headers and the C library's name it differently.
template <class Word, class Visit>
void drain_bits(Word* words, std::size_t word_count, Visit visit) {
  static_assert(sizeof(Word) == sizeof(std::uint64_t));
  for (std::size_t w = 0; w < word_count; ++w) {
    std::uint64_t bits = words[w];
    if (bits == 0) continue;
    words[w] = 0;
    for (; bits != 0; bits &= bits - 1) {
      visit(static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(bits))));
    }
  }
}

}  // namespace syscost
