// SPDX-License-Identifier: MIT
//
// Writes the output of bpftrace as JSON for machines, and as a few lines with names for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "extras/profilers/bpftrace/bpftrace_output.h"
#include "extras/profilers/profiler.h"

namespace syscost::profilers {

/// {"tool": "bpftrace", "script": ..., "maps": [{"name", "entries": [{"key": [...], "value" | "histogram" | ...}]}],
/// "lines": [...], "lost_events": N, "syscalls": [...]}. Bytes that are no UTF-8 are replaced.
std::string to_json(std::string_view script, const BpftraceOutput& output, const std::vector<SyscallFigures>& syscalls);

/// Syscalls with their histograms, the most frequent first; then the other maps as bpftrace draws them. Ends with a
/// line break; empty if there is nothing.
std::string to_summary(const BpftraceOutput& output, const std::vector<SyscallFigures>& syscalls);

}  // namespace syscost::profilers
