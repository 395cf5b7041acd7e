// SPDX-License-Identifier: MIT
//
// Writes a stamp file: rows as stamp_schema.h lists them (docs/gpu.md).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "syscost/gpu/stamps.h"

namespace syscost::gpu {

/// The header line.
inline std::string stamp_header() {
  std::string line;
  for (const std::string_view name : kStampColumnNames) {
    if (!line.empty()) line += ',';
    line += name;
  }
  return line + '\n';
}

namespace detail {

class StampLine {
 public:
  StampLine(const StampedLaunch& launch, std::string_view record) {
    set(StampColumn::kVersion, std::to_string(kStampsVersion));
    set(StampColumn::kRunId, launch.run_id);
    set(StampColumn::kTest, launch.test);
    set(StampColumn::kGpuKernel, launch.gpu_kernel);
    set(StampColumn::kLaunch, std::to_string(launch.launch));
    set(StampColumn::kRecord, record);
    set(StampColumn::kEnd, kStampEndMark);
  }

  void set(StampColumn column, std::string_view text) { cells_[static_cast<std::size_t>(column)] = text; }
  void set(StampColumn column, const Recorded& value) {
    if (value) set(column, std::to_string(*value));
  }
  void set(StampColumn x, const std::optional<Extent3>& extent) {
    if (!extent) return;
    const auto first = static_cast<std::size_t>(x);
    cells_[first] = std::to_string(extent->x);
    cells_[first + 1] = std::to_string(extent->y);
    cells_[first + 2] = std::to_string(extent->z);
  }

  void append_to(std::string& out) const {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (i != 0) out += ',';
      append_cell(cells_[i], out);
    }
    out += '\n';
  }

 private:
  /// RFC 4180; a line break, which the format does not have, becomes a space.
  static void append_cell(const std::string& text, std::string& out) {
    const bool is_quoted = text.find_first_of(",\"\r\n") != std::string::npos;
    if (is_quoted) out += '"';
    for (const char c : text) {
      if (c == '"') out += '"';
      out += c == '\n' || c == '\r' || c == '\0' ? ' ' : c;
    }
    if (is_quoted) out += '"';
  }

  std::array<std::string, kStampColumnCount> cells_;
};

inline std::string_view level_name(const std::optional<Level>& level) {
  if (!level) return {};
  return *level == Level::thread ? "thread" : *level == Level::warp ? "warp" : "block";
}

inline void append_stamp(const StampedLaunch& launch, const Stamp& stamp, std::string_view record, std::string& out) {
  StampLine line(launch, record);
  line.set(StampColumn::kBlockIdxX, stamp.block);
  line.set(StampColumn::kThreadIdxX, stamp.thread);
  line.set(StampColumn::kWarp, stamp.warp);
  line.set(StampColumn::kSm, stamp.sm);
  line.set(StampColumn::kMark, stamp.mark);
  line.set(StampColumn::kTimes, stamp.times);
  line.set(StampColumn::kEntryNs, stamp.entry_ns);
  line.set(StampColumn::kFirstExitNs, stamp.first_exit_ns);
  line.set(StampColumn::kExitNs, stamp.exit_ns);
  line.set(StampColumn::kEntryCycles, stamp.entry_cycles);
  line.set(StampColumn::kFirstExitCycles, stamp.first_exit_cycles);
  line.set(StampColumn::kExitCycles, stamp.exit_cycles);
  line.set(StampColumn::kWork, stamp.work);
  line.set(StampColumn::kWorkMax, stamp.work_max);
  line.append_to(out);
}

}  // namespace detail

/// The rows of one launch: its own first.
inline std::string stamp_rows(const StampedLaunch& launch) {
  std::string out;
  detail::StampLine line(launch, kStampLaunch);
  line.set(StampColumn::kDevice, launch.device);
  line.set(StampColumn::kLevel, detail::level_name(launch.level));
  line.set(StampColumn::kGridX, launch.grid);
  line.set(StampColumn::kBlockX, launch.block);
  line.set(StampColumn::kSmCount, launch.sm_count);
  line.set(StampColumn::kBlocksPerSm, launch.blocks_per_sm);
  line.set(StampColumn::kTimerStepNs, launch.timer_step_ns);
  line.set(StampColumn::kGpuAnchorNs, launch.gpu_anchor_ns);
  line.set(StampColumn::kHostAnchorNs, launch.host_anchor_ns);
  line.set(StampColumn::kAnchorErrorNs, launch.anchor_error_ns);
  line.set(StampColumn::kOverflowed, launch.overflowed);
  line.set(StampColumn::kPlainNs, launch.plain_ns);
  line.set(StampColumn::kStampedNs, launch.stamped_ns);
  line.append_to(out);
  for (const Stamp& stamp : launch.scopes) detail::append_stamp(launch, stamp, kStampScope, out);
  for (const Stamp& mark : launch.marks) detail::append_stamp(launch, mark, kStampMark, out);
  return out;
}

}  // namespace syscost::gpu
