// SPDX-License-Identifier: MIT
//
// Findings: the output of the tools beside us for one window, over all the stretches in which they were attached.
//
// A loop interrupts its test: the tool is stopped before the loop's timed passes and started again after them, so a
// test's findings have several parts. Their numbers are added up; their texts become numbered files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "profilers/profiler.h"

namespace syscost::session {

struct ProfilerOutputs {
  std::string tool;  ///< "bpftrace", "perf"
  std::vector<profilers::Output> outputs;
  int parts = 1;  ///< The number of stretches.
};

/// One for each tool, in the order of the tools.
using Findings = std::vector<ProfilerOutputs>;

/// Adds a later stretch of the same window.
void add_part(Findings& whole, Findings part);

/// All syscalls in the output of any script of the tool, ascending by number. Each figure comes from the first script
/// that has it: a sum over scripts would count every call twice.
std::vector<profilers::SyscallFigures> all_figures(const ProfilerOutputs& findings);

/// Removes a test framework's own writes from the outputs, as report_line.h's function does from our counts.
void remove_framework_writes(ProfilerOutputs& findings, int count);

}  // namespace syscost::session
