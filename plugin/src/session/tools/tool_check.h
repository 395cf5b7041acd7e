// SPDX-License-Identifier: MIT
//
// Do a tool's numbers and ours agree? Two counts of the same window, taken by different means, must be equal. If they
// are not, one of them is wrong, and syscost says so with both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost_data.h"
#include "profilers/profiler.h"

namespace syscost::session {

/// A number that both sides know.
struct ComparedNumber {
  std::string syscall;    ///< "write"; "all" where only the totals can be compared.
  std::string_view what;  ///< "entries" or "returned"
  std::uint64_t tool = 0;
  std::uint64_t counted = 0;
};

struct ToolCheck {
  std::vector<ComparedNumber> numbers;  ///< In the order of their syscalls' numbers.
  std::uint64_t tool_total = 0;         ///< Of entries, where the script knows them, else of returned ones.
  std::uint64_t counted_total = 0;      ///< Of ours that the tool can see.

  bool agrees() const;
  /// The tool saw nothing of what there was.
  bool is_blind() const { return tool_total == 0 && counted_total > 0; }
};

/// `output.counts_syscalls` must hold. Only what our filter selects, and only native syscalls, which is what a tool's
/// numbers are of.
ToolCheck check_tool(const profilers::Output& output, const detail::CostData& counted);

/// `syslat: 512000 write, as counted`; where the two differ
/// `syslat: 511990 write; NOT as counted: write entries 511990 seen, 512000 counted`.
std::string check_line(const profilers::Output& output, const ToolCheck& check);
/// `syslat: 512000 write, not compared: nothing counts here`.
std::string uncounted_line(const profilers::Output& output);

/// Both numbers of everything that differs: "write: 511990 seen, 512000 counted".
std::string differences(const ToolCheck& check);

/// The comparison as one JSON object.
std::string check_json(const profilers::Output& output, const ToolCheck& check, std::string_view backend);

}  // namespace syscost::session
