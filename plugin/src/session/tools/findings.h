// SPDX-License-Identifier: MIT
//
// Findings: what the tools beside us saw of one window, over all the stretches in which they were attached.
//
// A loop interrupts its test: the tool is stopped before the loop's timed passes and started again after them, so a
// test's findings come in parts. Numbers add up; texts cannot, and become numbered files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "profilers/profiler.h"

namespace syscost::session {

struct ProfilerOutputs {
  std::string tool;  ///< "bpftrace", "perf"
  std::vector<profilers::Output> outputs;
  int parts = 1;  ///< So many stretches.
};

/// One for each tool, in the order of the tools.
using Findings = std::vector<ProfilerOutputs>;

/// Adds a later stretch of the same window.
void add_part(Findings& whole, Findings part);

/// All syscalls that any script of the tool speaks of, ascending by number; of each figure the first script's that has
/// it. Adding scripts up would count every call twice.
std::vector<profilers::SyscallFigures> all_figures(const ProfilerOutputs& findings);

/// Takes a test framework's own output out of `outputs`, as remove_framework_writes() does out of ours.
void remove_framework_writes(ProfilerOutputs& findings, int count);

}  // namespace syscost::session
