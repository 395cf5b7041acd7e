// SPDX-License-Identifier: MIT
//
// SegmentsHeld: the segments that a window consists of. Backend (backend.h) explains the words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory_resource>
#include <vector>

#include "syscost/syscost.h"

namespace syscost {

/// Names a segment; 0 = disarmed. Grows by one with every armed boundary, over all lanes.
using Generation = std::uint64_t;

/// Index of a lane: 0 the process, others a thread's own.
enum class Lane : std::uint32_t { kProcess = 0 };

struct SegmentsHeld {
  /// Generations [first, end).
  struct Stretch {
    Generation first;
    Generation end;
  };
  static constexpr Generation kOpen = std::numeric_limits<Generation>::max();

  explicit SegmentsHeld(std::pmr::memory_resource* memory) : stretches(memory) {}

  /// True if calls that entered on `on` in segment `generation` are the window's.
  bool holds(Generation generation, Lane on) const {
    if (reach == Reach::thread && on != lane) return false;
    // They are in order. A window that rests while others run has one between each two of them.
    const auto later = std::upper_bound(stretches.begin(), stretches.end(), generation,
                                        [](Generation one, const Stretch& stretch) { return one < stretch.first; });
    return later != stretches.begin() && generation < std::prev(later)->end;
  }

  Reach reach = Reach::process;
  Lane lane = Lane::kProcess;
  std::pmr::vector<Stretch> stretches;
};

}  // namespace syscost
