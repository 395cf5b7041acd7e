// SPDX-License-Identifier: MIT
//
// Findings: the output of the tools beside us for one window, over all the times in which they were attached, and the
// comparison of their numbers with ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cost_data.h"
#include "extras/profilers/profiler.h"

namespace syscost::session {

// A loop interrupts its test: the tool is stopped before the loop's timed passes and started again after them, so a
// test's findings have several parts. Their numbers are added up; their texts become numbered files.

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

/// Removes a test framework's own writes from the outputs, as the other function of this name does from our counts.
void remove_framework_writes(ProfilerOutputs& findings, int count);

/// A number that both sides have.
struct ComparedNumber {
  std::string syscall;    ///< "write"; "all" if only the totals can be compared.
  std::string_view what;  ///< "entries" or "returned"
  std::uint64_t tool = 0;
  std::uint64_t counted = 0;
};

/// Compares a tool's numbers with ours. Two counts of the same window, taken by different means, must be equal. If they
/// are not, one of them is wrong, and syscost prints both.
struct ToolCheck {
  std::vector<ComparedNumber> numbers;  ///< In the order of their syscalls' numbers.
  std::uint64_t tool_total = 0;         ///< All entries, if the script counts them, else all returned calls.
  std::uint64_t counted_total = 0;      ///< The same by our count, without calls that the tool cannot see.

  bool agrees() const;
  /// True if the tool saw none of the calls.
  bool is_blind() const { return tool_total == 0 && counted_total > 0; }
};

/// `output.counts_syscalls` must be true. Compares only the syscalls that our filter selects, and only those of the
/// native ABI, because a tool's numbers have no ABI.
ToolCheck check_tool(const profilers::Output& output, const detail::CostData& counted);

/// `syslat: 512000 write, as counted`; if the two differ
/// `syslat: 511990 write; NOT as counted: write entries 511990 seen, 512000 counted`.
std::string check_line(const profilers::Output& output, const ToolCheck& check);
/// `syslat: 512000 write, not compared: nothing counts here`.
std::string uncounted_line(const profilers::Output& output);

/// Both numbers of each difference: "write: 511990 seen, 512000 counted".
std::string differences(const ToolCheck& check);

/// The comparison as one JSON object.
std::string check_json(const profilers::Output& output, const ToolCheck& check, std::string_view backend);

}  // namespace syscost::session
