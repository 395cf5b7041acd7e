// SPDX-License-Identifier: MIT
//
// What a tool beside us said of a window, as rows of their own: the same key as ours, another origin.
//
// A tool counts trips into the kernel and, of those that came back, latencies in powers of two. What it does not say
// stays empty: there are no percentiles, because a factor of two is none, and no times of the window, because the tool
// itself took part of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/syscall_id.h"

namespace syscost::csv {

/// Columns of one `syscall` row. Empty = the tool does not say.
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
