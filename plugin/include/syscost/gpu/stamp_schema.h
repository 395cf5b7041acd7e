// SPDX-License-Identifier: MIT
//
// The stamp file: every column of a CSV of GPU stamps, in order, in one place.
//
// A GPU kernel that is stamped says when its threads, warps or blocks began and ended. The measured process writes that
// down, `bench show` reads it; both include this file. docs/gpu.md defines what each column means and when it is
// empty, and a test holds that page against this list.
//
// A row is of record `launch` (what belongs to the launch as a whole), `scope` (one unit's stamps) or `mark` (a point
// inside the GPU kernel that a unit reached). The rows of one launch share run_id, test, gpu_kernel and launch.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace syscost::gpu {

/// Version written to column `stamps_version`. Moves when a column is added, removed, renamed or changes meaning.
inline constexpr int kStampsVersion = 1;

/// Text of the last column of every row; a row that does not end in it was torn by a crash or a full disk.
inline constexpr std::string_view kStampEndMark = "end";

// clang-format off
#define SYSCOST_STAMP_COLUMNS(X)                                                       \
  /* which launch */                                                                   \
  X(kVersion, "stamps_version") X(kRunId, "run_id") X(kTest, "test")                   \
  X(kGpuKernel, "gpu_kernel") X(kLaunch, "launch") X(kRecord, "record")                \
  /* `launch` rows */                                                                  \
  X(kDevice, "device") X(kLevel, "level")                                              \
  X(kGridX, "grid_x") X(kGridY, "grid_y") X(kGridZ, "grid_z")                          \
  X(kBlockX, "block_x") X(kBlockY, "block_y") X(kBlockZ, "block_z")                    \
  X(kSmCount, "sm_count") X(kBlocksPerSm, "blocks_per_sm")                             \
  X(kTimerStepNs, "timer_step_ns") X(kGpuAnchorNs, "gpu_anchor_ns")                    \
  X(kHostAnchorNs, "host_anchor_ns") X(kAnchorErrorNs, "anchor_error_ns")              \
  X(kOverflowed, "overflowed") X(kPlainNs, "plain_ns") X(kStampedNs, "stamped_ns")     \
  /* `scope` and `mark` rows: of which block, thread */                                \
  X(kBlockIdxX, "block_idx_x") X(kBlockIdxY, "block_idx_y")                            \
  X(kBlockIdxZ, "block_idx_z") X(kThreadIdxX, "thread_idx_x")                          \
  X(kThreadIdxY, "thread_idx_y") X(kThreadIdxZ, "thread_idx_z")                        \
  X(kWarp, "warp") X(kSm, "sm") X(kMark, "mark") X(kTimes, "times")                    \
  /* and when */                                                                       \
  X(kEntryNs, "entry_ns") X(kFirstExitNs, "first_exit_ns") X(kExitNs, "exit_ns")       \
  X(kEntryCycles, "entry_cycles") X(kFirstExitCycles, "first_exit_cycles")             \
  X(kExitCycles, "exit_cycles") X(kWork, "work") X(kWorkMax, "work_max")               \
  X(kEnd, "end")
// clang-format on

/// Position of a column in a row, from 0.
enum class StampColumn : std::size_t {
#define SYSCOST_STAMP_ENUM(id, name) id,
  SYSCOST_STAMP_COLUMNS(SYSCOST_STAMP_ENUM)
#undef SYSCOST_STAMP_ENUM
};

/// Column names in file order: the header line of every stamp file.
inline constexpr std::array kStampColumnNames = {
#define SYSCOST_STAMP_NAME(id, name) std::string_view(name),
    SYSCOST_STAMP_COLUMNS(SYSCOST_STAMP_NAME)
#undef SYSCOST_STAMP_NAME
};

inline constexpr std::size_t kStampColumnCount = kStampColumnNames.size();

/// Values of column `record`.
inline constexpr std::string_view kStampLaunch = "launch";
inline constexpr std::string_view kStampScope = "scope";
inline constexpr std::string_view kStampMark = "mark";

/// Threads of a warp, on every NVIDIA GPU so far.
inline constexpr unsigned kWarpThreads = 32;

}  // namespace syscost::gpu
