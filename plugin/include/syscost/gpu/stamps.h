// SPDX-License-Identifier: MIT
//
// Stamps of one launch in host memory, as they were recorded: the process that measured makes them of its buffer, and
// `bench` of a file. All times are those of the GPU's %globaltimer in ns, or of an SM's clock in cycles, which compare
// within one SM only. A value that was not recorded is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "syscost/gpu/stamp_schema.h"

namespace syscost::gpu {

using Recorded = std::optional<std::uint64_t>;

/// A size or a place in a grid or a block.
struct Extent3 {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;

  /// For a size: how many there are.
  constexpr std::uint64_t count() const { return x * y * z; }
  /// For a place: its number in `size`, x running fastest, as CUDA numbers threads.
  constexpr std::uint64_t number_in(const Extent3& size) const { return x + size.x * (y + size.y * z); }
  friend constexpr bool operator==(const Extent3& a, const Extent3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

/// The kind of unit that a record holds stamps of.
enum class Level { thread, warp, block };

/// One thread, warp or block (by Level), or a mark that it reached.
struct Stamp {
  std::optional<Extent3> block;   ///< Empty where it was not recorded: then there is one.
  std::optional<Extent3> thread;  ///< The first one of a warp or block.
  Recorded warp;                  ///< Number in its block.
  Recorded sm;
  Recorded mark;   ///< Number of the mark; empty for a scope.
  Recorded times;  ///< For a mark: how often it was reached.
  Recorded entry_ns;
  Recorded first_exit_ns;  ///< For a warp or block: when the first of its threads left. For a mark: empty.
  Recorded exit_ns;        ///< When the last left; of a mark when it was reached last.
  Recorded entry_cycles;
  Recorded first_exit_cycles;
  Recorded exit_cycles;
  Recorded work;      ///< Sum of what the threads counted.
  Recorded work_max;  ///< The most that one of its threads counted; of a block summed over its warps.
};

struct StampedLaunch {
  std::string run_id;
  std::string test;
  std::string gpu_kernel;
  std::uint64_t launch = 0;  ///< This GPU kernel's launch number in this test, from 0.
  std::string device;
  std::optional<Level> level;
  std::optional<Extent3> grid;
  std::optional<Extent3> block;
  Recorded sm_count;
  Recorded blocks_per_sm;  ///< That fit at once (occupancy).
  Recorded timer_step_ns;  ///< Least change of the timer that was seen.
  Recorded gpu_anchor_ns;  ///< The GPU's timer when the host's CLOCK_MONOTONIC showed host_anchor_ns,
  Recorded host_anchor_ns;
  Recorded anchor_error_ns;  ///< and by how much that may be wrong, either way.
  Recorded overflowed;       ///< Stamps for which the buffer had no room.
  Recorded plain_ns;         ///< The GPU kernel's time without stamps,
  Recorded stamped_ns;       ///< and with them.
  std::vector<Stamp> scopes;
  std::vector<Stamp> marks;
};

}  // namespace syscost::gpu
