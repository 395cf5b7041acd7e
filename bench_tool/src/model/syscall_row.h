// SPDX-License-Identifier: MIT
//
// SyscallRow: one syscall of a window.
#pragma once

#include <cstdint>

#include "model/measured.h"
#include "model/names.h"

namespace syscost::bench::model {

/// The figures of a `syscall` row. Times in ns.
struct SyscallRow {
  std::uint32_t sample = 0;
  std::uint32_t file = 0;  ///< Index into Dataset::files.
  std::uint32_t line = 0;
  NameId syscall = kNoName;
  NameId detail = kNoName;
  NameId classes = kNoName;  ///< As in the file: `file;desc`.
  NameId errnos = kNoName;   ///< As in the file: `ENOENT:3 EINTR:1`.
  NameId per_run_errnos = kNoName;
  NameId histogram = kNoName;  ///< As in the file; kept only where LoadOptions asks for it.
  Measured entries;
  Measured by_started_threads;  ///< The part of `entries` by threads that began in the window.
  Measured by_older_threads;    ///< The part of `entries` by older threads, but for the one that opened the window.
  Measured calls;
  Measured restarts;
  Measured in_flight;
  Measured no_return;
  Measured carried_in;
  Measured denied;
  Measured errors;
  Measured injected;        ///< The part of `calls` that a fault answered or changed.
  Measured per_run_calls;   ///< The part of `calls` made once per run of a benchmark's loop; if known.
  Measured per_run_errors;  ///< The part of `errors` made once per run of a benchmark's loop; if known.
  Measured bytes;           ///< Moved by I/O, or mapped, by `calls`.
  Measured bytes_released;  ///< Unmapped by `calls`.
  Measured short_calls;     ///< The part of `calls` that moved less than asked.
  Measured per_run_bytes;   ///< The part of `bytes` that comes once per run of a benchmark's loop; if known.
  Measured latency_count;
  Measured latency_sum_ns;
  Measured latency_min_ns;
  Measured latency_max_ns;
};

}  // namespace syscost::bench::model
