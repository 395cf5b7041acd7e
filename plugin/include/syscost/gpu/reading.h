// SPDX-License-Identifier: MIT
//
// From what a GPU kernel left in its buffer to stamps, and the arithmetic of clocks: host code that needs no GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "syscost/gpu/recorder.h"

namespace syscost::gpu {

constexpr Extent3 extent_of(const Dim3& size) {
  return {size.x, size.y, size.z};
}

/// The place that has the number `number` in `size`.
constexpr Extent3 place_of(std::uint64_t number, const Dim3& size) {
  return {number % size.x, number / size.x % size.y, number / size.x / size.y};
}

/// The complement of a time that was kept as its complement; 0 was never written.
constexpr Recorded uncomplemented(unsigned long long kept) {
  return kept == 0 ? Recorded() : Recorded(~kept);
}

constexpr Recorded unless_zero(unsigned long long kept) {
  return kept == 0 ? Recorded() : Recorded(kept);
}

namespace detail {

inline Stamp stamp_of(const Layout& layout, const Cell& cell, std::uint64_t unit) {
  const std::uint64_t in_block = unit % layout.units_per_block();
  const std::uint64_t first_thread = in_block * (layout.level == Level::warp ? kWarpThreads : 1);
  Stamp stamp;
  stamp.block = place_of(unit / layout.units_per_block(), layout.grid);
  stamp.thread = layout.level == Level::block ? Extent3{0, 0, 0} : place_of(first_thread, layout.block);
  if (layout.level == Level::thread) stamp.warp = in_block / kWarpThreads;
  if (layout.level == Level::warp) stamp.warp = in_block;
  stamp.sm = cell.sm_plus_one - 1;
  return stamp;
}

}  // namespace detail

/// Adds what the first `layout.cells` units left to `launch`, with the sizes and the losses.
inline void read_cells(const Layout& layout, const Losses& losses, const Cell* cells, const MarkCell* mark_cells,
                       StampedLaunch& launch) {
  launch.level = layout.level;
  launch.grid = extent_of(layout.grid);
  launch.block = extent_of(layout.block);
  launch.overflowed = losses.overflowed;
  const bool is_of_several = layout.level != Level::thread;
  for (std::uint64_t unit = 0; unit < layout.cells; ++unit) {
    const Cell& cell = cells[unit];
    if (cell.sm_plus_one == 0) continue;
    Stamp stamp = detail::stamp_of(layout, cell, unit);
    for (std::uint32_t number = 0; number < layout.marks; ++number) {
      const MarkCell& kept = mark_cells[unit * layout.marks + number];
      if (kept.times == 0) continue;
      Stamp mark = stamp;
      mark.mark = number;
      mark.times = kept.times;
      mark.entry_ns = uncomplemented(kept.not_first_ns);
      mark.exit_ns = unless_zero(kept.last_ns);
      launch.marks.push_back(mark);
    }
    stamp.entry_ns = uncomplemented(cell.not_entry_ns);
    stamp.exit_ns = unless_zero(cell.exit_ns);
    stamp.entry_cycles = uncomplemented(cell.not_entry_cycles);
    stamp.exit_cycles = unless_zero(cell.exit_cycles);
    if (is_of_several) {
      stamp.first_exit_ns = uncomplemented(cell.not_first_exit_ns);
      stamp.first_exit_cycles = uncomplemented(cell.not_first_exit_cycles);
    }
    stamp.work = unless_zero(cell.work);
    // In a block, the most that one thread did says nothing about its warps.
    if (layout.level == Level::warp) stamp.work_max = unless_zero(cell.work_max);
    launch.scopes.push_back(stamp);
  }
}

/// Why a buffer says nothing about the launch; "" when it does.
inline std::string mismatch_text(const std::string& gpu_kernel, const Layout& layout, const Losses& losses) {
  if (losses.mismatched == 0) return {};
  const auto text = [](const Dim3& size) {
    return std::to_string(size.x) + "x" + std::to_string(size.y) + "x" + std::to_string(size.z);
  };
  return "GPU kernel " + gpu_kernel + " was launched with other sizes than its stamps were made for (grid " +
         text(layout.grid) + ", block " + text(layout.block) + "): nothing was stamped; make Stamps with the launch's";
}

/// Least change between readings of a timer, in the order they were taken; empty when it never changed.
inline Recorded least_step(const unsigned long long* readings, std::size_t count) {
  Recorded least;
  for (std::size_t i = 1; i < count; ++i) {
    if (readings[i] <= readings[i - 1]) continue;
    least = std::min<std::uint64_t>(least.value_or(UINT64_MAX), readings[i] - readings[i - 1]);
  }
  return least;
}

/// The GPU's timer was read after the host asked and before the host saw the answer.
struct HandshakeSample {
  std::uint64_t host_before_ns = 0;
  std::uint64_t gpu_ns = 0;
  std::uint64_t host_after_ns = 0;
};

/// At one moment both clocks showed these, give or take the error.
struct ClockAnchor {
  std::uint64_t gpu_ns = 0;
  std::uint64_t host_ns = 0;
  std::uint64_t error_ns = 0;
};

/// From the sample with the least round trip: the reading lies somewhere in it, so half of it is the error, and the
/// timer's step is added. Empty unless at least one sample has its host times in order.
inline std::optional<ClockAnchor> align_clocks(const std::vector<HandshakeSample>& samples, std::uint64_t step_ns) {
  std::optional<ClockAnchor> best;
  std::uint64_t best_trip = 0;
  for (const HandshakeSample& one : samples) {
    if (one.host_after_ns < one.host_before_ns || one.gpu_ns == 0) continue;
    const std::uint64_t trip = one.host_after_ns - one.host_before_ns;
    if (best && trip >= best_trip) continue;
    best_trip = trip;
    best = ClockAnchor{one.gpu_ns, one.host_before_ns + trip / 2, (trip + 1) / 2 + step_ns};
  }
  return best;
}

/// Advice on a CUDA error, by its name; "" where the name is all there is to say.
inline std::string cuda_fix(const std::string& name) {
  if (name == "cudaErrorNoDevice") return "no NVIDIA GPU is visible here (CUDA_VISIBLE_DEVICES, --gpus of a container)";
  if (name == "cudaErrorInsufficientDriver") {
    return "there is no NVIDIA driver, or one older than this CUDA runtime: update it, or build with an older toolkit";
  }
  if (name == "cudaErrorNoKernelImageForDevice" || name == "cudaErrorUnsupportedPtxVersion") {
    return "the program was compiled for other GPUs: set CMAKE_CUDA_ARCHITECTURES to this one's";
  }
  if (name == "cudaErrorInvalidConfiguration")
    return "grid or block is 0, or larger than the GPU allows (1024 threads)";
  if (name == "cudaErrorMemoryAllocation") return "use a coarser level, or a smaller most_bytes";
  if (name == "cudaErrorLaunchOutOfResources") return "the block needs more registers or shared memory than an SM has";
  if (name == "cudaErrorIllegalAddress" || name == "cudaErrorAssert" || name == "cudaErrorLaunchFailure") {
    return "the GPU kernel crashed: compute-sanitizer says where; the process cannot use the GPU any more";
  }
  return {};
}

/// `launching GPU kernel sum_tree failed: invalid configuration argument (cudaErrorInvalidConfiguration): ...`
inline std::string cuda_failure(const std::string& operation, const std::string& name, const std::string& description) {
  const std::string fix = cuda_fix(name);
  return operation + " failed: " + description + " (" + name + ")" + (fix.empty() ? "" : ": " + fix);
}

}  // namespace syscost::gpu
