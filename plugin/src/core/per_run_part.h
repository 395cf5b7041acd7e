// SPDX-License-Identifier: MIT
//
// PerRunPart: of the calls of a counted pass, those that a run of the loop makes whatever its length.
//
// A body that opens a file in its first iteration and writes in each makes one openat and N writes. Only passes of
// several lengths tell the two apart; and only then can passes of different lengths be compared.
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
  std::uint64_t calls = 0;  ///< Entries where the backend sees no calls.
  /// By errno, without those that have none; empty where errors were not measured, or one errno's lie on no line.
  std::optional<std::map<int, std::uint64_t>> errors;
};

/// Holds only syscalls with a known number of per-run calls.
using PerRunParts = std::map<SyscallId, PerRunPart>;
/// Of the processes below, by program.
using ChildPerRunParts = std::map<std::string, PerRunParts, std::less<>>;

/// One of several passes of the same loop. `cost` is not null.
struct CountedPass {
  std::uint64_t iterations = 0;
  const detail::CostData* cost = nullptr;
};

/// Of the calls in the last of `passes`. Nothing where there is only one length, or where events were lost.
PerRunParts per_run_parts(const std::vector<CountedPass>& passes);
ChildPerRunParts child_per_run_parts(const std::vector<CountedPass>& passes);

}  // namespace syscost
