// SPDX-License-Identifier: MIT
//
// The rows of a tool beside us for a window: the same key as our rows, with another origin.
//
// A tool counts trips into the kernel and, for those that returned, latencies in powers of two. Other columns stay
// empty: percentiles, because a factor of two is too coarse, and the window's times, because they include the tool's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/syscall_id.h"

namespace syscost::csv {

/// Columns of one `syscall` row. Empty = the tool has no such number.
struct ToolSyscall {
  SyscallId id;
  std::optional<std::uint64_t> entries;
  std::optional<std::uint64_t> errors;
  std::string errnos;  ///< `ENOENT:3 EINTR:1`
  std::optional<std::uint64_t> latency_count;
  std::optional<std::uint64_t> latency_sum_ns;
  std::optional<std::uint64_t> latency_min_ns;
  std::optional<std::uint64_t> latency_max_ns;
  std::string histogram;  ///< `512:128 1024:3`
};

struct ToolWindow {
  std::string origin;  ///< "bpftrace"
  std::uint64_t lost = 0;
  std::vector<ToolSyscall> syscalls;
};

}  // namespace syscost::csv
