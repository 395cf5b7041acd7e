// SPDX-License-Identifier: MIT
//
// From maps of agreed names to figures for the CSV: any script that fills them gets rows of its own.
//
//     @syscall_entries[nr] = count()         trips into the kernel
//     @syscall_lat_ns[nr] = hist(ns)         one value for each that returned
//     @syscall_total_ns[nr] = sum(ns)        @syscall_min_ns = min(ns)        @syscall_max_ns = max(ns)
//     @syscall_errors[nr, errno] = count()
//     @syscost_unread = count()              events at which the window's word could not be read
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profilers/bpftrace/bpftrace_output.h"
#include "profilers/profiler.h"

namespace syscost::profilers {

/// The agreed maps that a script's source names. The output does not show it, because bpftrace does not print an empty
/// map.
struct ScriptMaps {
  bool has_syscalls = false;  ///< Entries or latencies.
  bool has_entries = false;
  bool has_latency = false;
  bool has_errors = false;
  bool calls_exit = false;  ///< It may end by itself, and then silently counts only a part of the window.
};
ScriptMaps maps_of_source(std::string_view source);

struct Figures {
  std::vector<SyscallFigures> syscalls;  ///< Ascending by number.
  std::uint64_t unread = 0;
};

/// Fails if the content of an agreed map does not fit its name: text, a negative count, a key that is no number.
Result<Figures> figures_of(const BpftraceOutput& output, const ScriptMaps& maps);

}  // namespace syscost::profilers
