// SPDX-License-Identifier: MIT
//
// How a backend passes on what was counted. Counts lie in cells that have another form than a Tally: this finds the
// cells that were touched, passes on their two numbers of bytes, and drops the counts that the filter does not select.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/backend.h"
#include "core/bytes.h"
#include "core/selector.h"
#include "core/tally.h"

namespace syscost {

/// Adds the two numbers that a cell of the syscall `id` has for bytes. `second`: the bytes that were released, if the
/// syscall maps memory; else how many calls were short. If it opens files: how many opens were with O_SYNC, and how
/// many of files of the kernel.
inline void add_bytes(Tally& into, SyscallId id, std::uint64_t bytes, std::uint64_t second) {
  if ((bytes | second) == 0) return;
  const ByteRule rule = byte_rule(id);
  (rule.opens() ? into.sync_opens : into.bytes) += bytes;
  (rule.maps() ? into.bytes_released : rule.opens() ? into.kernel_files : into.short_calls) += second;
}

/// Sets the same two numbers in a crossing, which has its `id` already.
inline void add_bytes(Crossing& into, std::uint64_t bytes, std::uint64_t second) {
  const ByteRule rule = byte_rule(into.id);
  if (rule.opens()) {
    into.is_sync_open = bytes != 0;
    into.is_kernel_file = second != 0;
    return;
  }
  into.bytes = bytes;
  if (rule.maps()) {
    into.bytes_released = second;
  } else {
    into.is_short = second != 0;
  }
}

/// Calls visit(index) for each set bit and clears the words. Each bit stands for a cell that was touched, so that
/// reading touches no others. `Word` is an unsigned integer of 64 bits: the kernel's headers and the C library's name
/// it differently.
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

/// True for a number beyond the table that `filter` does not select; null = it selects everything.
///
/// A backend marks the numbers that the filter leaves out in a table, and does not count them. A number beyond the
/// table (Filter::kNumbers) has no mark, so the backend counts it. These counts are dropped when they are read.
inline bool is_unselected_beyond_table(const Filter* filter, SyscallId id) {
  return filter != nullptr && id.number >= Filter::kNumbers && !filter->selects(id);
}

/// Clears what `table` has of such numbers.
inline void drop_unselected(const Filter* filter, CallTable& table) {
  for (const auto& [id, tally] : table) {
    if (is_unselected_beyond_table(filter, id)) table.at(id).clear();
  }
}

/// Passes on the crossings that `filter` selects.
class SelectedCrossings final : public CrossingSink {
 public:
  SelectedCrossings(CrossingSink& sink, const Filter* filter) : sink_(sink), filter_(filter) {}
  void add(const Crossing& crossing) override {
    if (!is_unselected_beyond_table(filter_, crossing.id)) sink_.add(crossing);
  }

 private:
  CrossingSink& sink_;
  const Filter* filter_;
};

}  // namespace syscost
