// SPDX-License-Identifier: MIT
//
// IdIndex: finds what is kept elsewhere under numbers 0, 1, 2, ... by its hash.
//
// A million names or windows in std::unordered_map are a million allocations of sixty bytes; here each costs about
// twelve bytes, and what is indexed is not kept twice.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace syscost::bench::model {

class IdIndex {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// The id that was inserted under `hash` and for which `is_it(id)` holds; kNone if there is none.
  template <class IsIt>
  std::uint32_t find(std::uint64_t hash, IsIt is_it) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = place_of(hash);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.id == kNone) return kNone;
      if (slot.hash == static_cast<std::uint32_t>(hash) && is_it(slot.id)) return slot.id;
    }
  }
  /// Adds an id that find() did not find. `id` is not kNone.
  void insert(std::uint64_t hash, std::uint32_t id) {
    if ((count_ + 1) * 3 > slots_.size() * 2) grow();
    place(static_cast<std::uint32_t>(hash), id);
    ++count_;
  }
  void clear() { *this = IdIndex(); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id = kNone;
  };

  std::size_t place_of(std::uint64_t hash) const { return static_cast<std::uint32_t>(hash) & (slots_.size() - 1); }
  void place(std::uint32_t hash, std::uint32_t id) {
    std::size_t at = place_of(hash);
    while (slots_[at].id != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {hash, id};
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id != kNone) place(slot.hash, slot.id);
    }
  }

  std::vector<Slot> slots_;  ///< A power of two of them, never full.
  std::size_t count_ = 0;
};

}  // namespace syscost::bench::model
