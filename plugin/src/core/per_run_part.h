// SPDX-License-Identifier: MIT
//
// PerRunPart: the calls of a counted pass that a run of the loop makes once, regardless of its length.
//
// A body that opens a file in its first iteration and writes in each makes one openat and N writes. Only passes of
// several lengths separate the two, and only separated counts of passes of different lengths can be compared.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cost_data.h"
#include "core/syscall_id.h"

namespace syscost {

struct PerRunPart {
  std::uint64_t calls = 0;  ///< Entries, if the backend sees no calls.
  /// By errno, without zeros. Empty if errors were not measured, or if the counts of one errno lie on no line.
  std::optional<std::map<int, std::uint64_t>> errors;
  /// The part of Tally::bytes. Empty if bytes were not measured, or if they lie on no line.
  std::optional<std::uint64_t> bytes;
};

/// Holds only syscalls with a known number of per-run calls.
using PerRunParts = std::map<SyscallId, PerRunPart>;
/// The same of other programs.
using ProgramPerRunParts = std::map<std::string, PerRunParts, std::less<>>;

/// One of several passes of the same loop. `cost` is not null.
struct CountedPass {
  std::uint64_t iterations = 0;
  const detail::CostData* cost = nullptr;
};

/// For the last of `passes`. Empty if there is only one length, or if events were lost.
PerRunParts per_run_parts(const std::vector<CountedPass>& passes);
ProgramPerRunParts program_per_run_parts(const std::vector<CountedPass>& passes);

}  // namespace syscost
