// SPDX-License-Identifier: MIT
//
// A grid that runs on the host: the Machine of recorder.h with made-up clocks, thread by thread. On a GPU the lanes of
// a warp run at once. Here they run one after the other, each at the time that it is given.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "syscost/gpu/reading.h"
#include "syscost/gpu/recorder.h"

namespace syscost::gpu::testing {

/// The answers that the hardware would give now. One per test, set before each step.
struct Hardware {
  Dim3 grid;
  Dim3 block;
  Dim3 block_index{0, 0, 0};
  Dim3 thread_index{0, 0, 0};
  unsigned long long now_ns = 0;
  unsigned int sm = 0;
  Group group;
};

inline Hardware hardware;

struct HostMachine {
  Dim3 grid_size() const { return hardware.grid; }
  Dim3 block_size() const { return hardware.block; }
  Dim3 block() const { return hardware.block_index; }
  Dim3 thread() const { return hardware.thread_index; }
  unsigned long long now_ns() const { return hardware.now_ns; }
  unsigned long long cycles() const { return hardware.now_ns * 2; }
  unsigned int sm() const { return hardware.sm; }
  Group group() const { return hardware.group; }
  template <class Number>
  void raise(Number* at, Number value) const {
    if (value > *at) *at = value;
  }
  void add(unsigned long long* at, unsigned long long value) const { *at += value; }
};

using HostScope = BasicScope<HostMachine>;

/// A buffer in host memory.
struct HostBuffer {
  explicit HostBuffer(const Layout& sizes) : layout(sizes), cells(sizes.cells), mark_cells(sizes.cells * sizes.marks) {}

  Recorder recorder() { return {layout, &losses, cells.data(), mark_cells.data()}; }
  StampedLaunch read() const {
    StampedLaunch launch;
    read_cells(layout, losses, cells.data(), mark_cells.data(), launch);
    return launch;
  }

  Layout layout;
  Losses losses{};
  std::vector<Cell> cells;
  std::vector<MarkCell> mark_cells;
};

/// One thread of a launch.
struct Thread {
  std::uint64_t block = 0;
  std::uint64_t number = 0;  ///< In its block.
  std::uint64_t lane() const { return number % kWarpThreads; }
  std::uint64_t warp() const { return number / kWarpThreads; }
};

/// Launches a GPU kernel that every thread enters at `entry` and leaves at `exit`; in between it runs `body`. The lanes
/// of a warp leave in groups of equal `exit`, and the lowest of each group leads it.
inline void launch(
    const Recorder& recorder, Dim3 grid, Dim3 block, const std::function<std::uint64_t(Thread)>& entry,
    const std::function<std::uint64_t(Thread)>& exit,
    const std::function<void(Thread, HostScope&)>& body = [](Thread, HostScope&) {}) {
  hardware.grid = grid;
  hardware.block = block;
  const auto dim3_of = [](std::uint64_t number, const Dim3& size) {
    const Extent3 place = place_of(number, size);
    return Dim3{static_cast<std::uint32_t>(place.x), static_cast<std::uint32_t>(place.y),
                static_cast<std::uint32_t>(place.z)};
  };
  for (std::uint64_t i = 0; i < count_of(grid) * count_of(block); ++i) {
    const Thread thread{i / count_of(block), i % count_of(block)};
    hardware.block_index = dim3_of(thread.block, grid);
    hardware.thread_index = dim3_of(thread.number, block);
    hardware.sm = static_cast<unsigned int>(thread.block % 4);
    hardware.now_ns = entry(thread);
    hardware.group = {thread.lane() == 0, true};
    HostScope scope(recorder);
    body(thread, scope);
    hardware.now_ns = exit(thread);
    hardware.group = {true, true};
    const std::uint64_t first = thread.number - thread.lane();
    for (std::uint64_t number = first; number < first + kWarpThreads && number < count_of(block); ++number) {
      const bool is_together = exit({thread.block, number}) == hardware.now_ns;
      if (is_together && number < thread.number) hardware.group.leads = false;
      if (!is_together) hardware.group.is_warp = false;
    }
  }
}

}  // namespace syscost::gpu::testing
