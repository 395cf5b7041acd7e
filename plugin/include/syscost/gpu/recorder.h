// SPDX-License-Identifier: MIT
//
// The data that a GPU kernel writes while it runs, and their places: the part of GPU stamps that is the same on the
// device and on the host.
//
// Every unit (thread, warp or block) has a cell at a place that follows from its number, so that nothing is searched or
// shared. Cells begin as zeros and only ever grow: an exit is kept by its maximum, an entry by the maximum of its
// complement. So the lanes of a warp that returned early, and the warps of a block, can write in any order. Threads
// that are a whole unit, as most warps are, have no other writer: they store, because atomics on all cells take more of
// a GPU kernel's time.
//
// A Machine says what the hardware says: place, clocks, which threads run together, and how to raise a number in
// memory. syscost/gpu.cuh has the GPU's; tests have one that walks through a grid on the host.
#pragma once

#include <cstdint>

#include "syscost/gpu/stamps.h"

#ifdef __CUDACC__
#define SYSCOST_GPU_BOTH __host__ __device__
#else
#define SYSCOST_GPU_BOTH
#endif

namespace syscost::gpu {

/// A size or a place, as CUDA's dim3.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

SYSCOST_GPU_BOTH constexpr bool is_same(const Dim3& a, const Dim3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
SYSCOST_GPU_BOTH constexpr std::uint64_t count_of(const Dim3& size) {
  return static_cast<std::uint64_t>(size.x) * size.y * size.z;
}
SYSCOST_GPU_BOTH constexpr std::uint64_t number_of(const Dim3& place, const Dim3& size) {
  return place.x + static_cast<std::uint64_t>(size.x) * (place.y + static_cast<std::uint64_t>(size.y) * place.z);
}

/// One unit's stamps. `not_` = complement: 0 is "never", and the greatest complement is the least time. Values that are
/// stored at the same time are side by side.
struct alignas(64) Cell {
  unsigned long long not_entry_ns;
  unsigned long long not_entry_cycles;
  unsigned long long not_first_exit_ns;
  unsigned long long not_first_exit_cycles;
  unsigned long long exit_ns;
  unsigned long long exit_cycles;
  unsigned long long work;
  unsigned int work_max;
  unsigned int sm_plus_one;  ///< 0: this unit stamped nothing.
};
static_assert(sizeof(Cell) == 64, "a cell is half a cache line");

/// A mark that a unit reached.
struct MarkCell {
  unsigned long long not_first_ns;
  unsigned long long last_ns;
  unsigned long long times;
};
static_assert(sizeof(MarkCell) == 24, "no padding");

/// The stamps, marks and units that were lost on the device.
struct Losses {
  unsigned long long overflowed;  ///< Stamps and marks without a cell.
  unsigned long long mismatched;  ///< Units of a launch with other sizes than the buffer was made for.
};

/// Sizes of a launch, and how many units have a cell.
struct Layout {
  Level level = Level::warp;
  Dim3 grid;
  Dim3 block;
  std::uint32_t marks = 0;  ///< Marks of each unit: 0 to marks - 1.
  std::uint64_t cells = 0;  ///< At most units().

  SYSCOST_GPU_BOTH constexpr std::uint64_t units_per_block() const {
    switch (level) {
      case Level::thread:
        return count_of(block);
      case Level::warp:
        return (count_of(block) + kWarpThreads - 1) / kWarpThreads;
      case Level::block:
        break;
    }
    return 1;
  }
  SYSCOST_GPU_BOTH constexpr std::uint64_t units() const { return count_of(grid) * units_per_block(); }
  SYSCOST_GPU_BOTH constexpr std::uint64_t unit_of(std::uint64_t block_number, std::uint64_t thread_number) const {
    const std::uint64_t in_block = level == Level::thread ? thread_number
                                   : level == Level::warp ? thread_number / kWarpThreads
                                                          : 0;
    return block_number * units_per_block() + in_block;
  }
  static constexpr std::uint64_t bytes_per_unit(std::uint32_t marks) {
    return sizeof(Cell) + std::uint64_t{marks} * sizeof(MarkCell);
  }
  constexpr std::uint64_t bytes() const { return cells * bytes_per_unit(marks); }

  /// For a launch; of units that do not fit into `most_bytes` the last have no cell, and are counted as overflowed.
  static constexpr Layout of(Level level, Dim3 grid, Dim3 block, std::uint32_t marks, std::uint64_t most_bytes) {
    Layout layout{level, grid, block, marks, 0};
    const std::uint64_t room = most_bytes / bytes_per_unit(marks);
    layout.cells = layout.units() < room ? layout.units() : room;
    return layout;
  }
};

/// Threads of a warp that run this together.
struct Group {
  bool leads = false;    ///< This thread is the lowest of them.
  bool is_warp = false;  ///< They are all threads of the warp.
};

/// The recorder that a GPU kernel gets as an argument. One that is made by default records nothing: for timing the GPU
/// kernel without.
struct Recorder {
  Layout layout;
  Losses* losses = nullptr;
  Cell* cells = nullptr;
  MarkCell* mark_cells = nullptr;
};

/// Stamps its entry when it is made and its exit when it ends: after the last statement, or at a return. One for each
/// GPU kernel; all threads make it.
template <class Machine>
class BasicScope {
 public:
  SYSCOST_GPU_BOTH explicit BasicScope(const Recorder& recorder, Machine machine = Machine())
      : recorder_(recorder), machine_(machine) {
    if (recorder.cells == nullptr) return;
    const Group group = machine_.group();
    if (!is_same(machine_.grid_size(), recorder.layout.grid) ||
        !is_same(machine_.block_size(), recorder.layout.block)) {
      if (speaks(group)) machine_.add(&recorder.losses->mismatched, 1);
      return;
    }
    unit_ = recorder.layout.unit_of(number_of(machine_.block(), recorder.layout.grid),
                                    number_of(machine_.thread(), recorder.layout.block));
    if (unit_ >= recorder.layout.cells) {
      if (speaks_for_unit(group)) machine_.add(&recorder.losses->overflowed, 1);
      return;
    }
    cell_ = recorder.cells + unit_;
    if (!speaks(group)) return;
    const unsigned int sm_plus_one = machine_.sm() + 1;
    if (is_unit(group)) {
      cell_->sm_plus_one = sm_plus_one;
      const unsigned long long not_cycles = ~machine_.cycles();
      cell_->not_entry_ns = ~machine_.now_ns();
      cell_->not_entry_cycles = not_cycles;
      return;
    }
    machine_.raise(&cell_->sm_plus_one, sm_plus_one);
    machine_.raise(&cell_->not_entry_cycles, ~machine_.cycles());
    machine_.raise(&cell_->not_entry_ns, ~machine_.now_ns());
  }

  SYSCOST_GPU_BOTH ~BasicScope() {
    if (cell_ == nullptr) return;
    // The clocks first: what follows is not the GPU kernel's.
    const unsigned long long now_ns = machine_.now_ns();
    const unsigned long long cycles = machine_.cycles();
    const Group group = machine_.group();
    if (is_unit(group)) {
      if (speaks(group)) {
        cell_->not_first_exit_ns = ~now_ns;
        cell_->not_first_exit_cycles = ~cycles;
        cell_->exit_ns = now_ns;
        cell_->exit_cycles = cycles;
      }
    } else if (speaks(group)) {
      machine_.raise(&cell_->not_first_exit_ns, ~now_ns);
      machine_.raise(&cell_->exit_ns, now_ns);
      machine_.raise(&cell_->not_first_exit_cycles, ~cycles);
      machine_.raise(&cell_->exit_cycles, cycles);
    }
    if (work_ != 0) {
      machine_.add(&cell_->work, work_);
      machine_.raise(&cell_->work_max, work_);
    }
  }
  BasicScope(const BasicScope&) = delete;
  BasicScope& operator=(const BasicScope&) = delete;

  /// Stamps that this unit is here: in an arm of a branch, or between two phases. `number` is below the marks that were
  /// asked for; others are counted as overflowed.
  SYSCOST_GPU_BOTH void mark(std::uint32_t number) {
    if (cell_ == nullptr || !speaks(machine_.group())) return;
    if (number >= recorder_.layout.marks) {
      machine_.add(&recorder_.losses->overflowed, 1);
      return;
    }
    const unsigned long long now_ns = machine_.now_ns();
    MarkCell* mark = recorder_.mark_cells + unit_ * recorder_.layout.marks + number;
    machine_.raise(&mark->not_first_ns, ~now_ns);
    machine_.raise(&mark->last_ns, now_ns);
    machine_.add(&mark->times, 1);
  }

  /// Counts steps of this thread's work, for SIMT efficiency. In a register until the scope ends.
  SYSCOST_GPU_BOTH void count(std::uint32_t steps = 1) { work_ += steps; }

 private:
  /// Threads are stamped one by one; of a warp (and of a block's warps) one of those that are here now writes.
  SYSCOST_GPU_BOTH bool speaks(const Group& group) const {
    return recorder_.layout.level == Level::thread || group.leads;
  }
  /// Once for each unit.
  SYSCOST_GPU_BOTH bool speaks_for_unit(const Group& group) {
    return recorder_.layout.level == Level::block ? number_of(machine_.thread(), recorder_.layout.block) == 0
                                                  : speaks(group);
  }
  /// No other thread writes what this one, or the leader of its group, writes now.
  SYSCOST_GPU_BOTH bool is_unit(const Group& group) const {
    return recorder_.layout.level == Level::thread || (recorder_.layout.level == Level::warp && group.is_warp);
  }

  Recorder recorder_;
  Machine machine_;
  Cell* cell_ = nullptr;
  std::uint64_t unit_ = 0;
  std::uint32_t work_ = 0;
};

}  // namespace syscost::gpu
