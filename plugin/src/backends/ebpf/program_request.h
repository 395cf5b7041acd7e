// SPDX-License-Identifier: MIT
//
// ProgramRequest: what the BPF programs of a process look for, besides its calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/ebpf/program_group.h"
#include "core/syscall_id.h"

namespace syscost::ebpf {

struct ProgramRequest {
  DetailRequest details = {};  ///< How to separate calls of one syscall.
  std::array<std::uint32_t, kMostProgramGroups>
      wanted{};  ///< ProgramGroup::wanted(), in the order of program_groups().

  /// True if the programs cannot be shared: what they look for, and find, is this process's business.
  bool needs_own_programs() const {
    return details.any() || std::any_of(wanted.begin(), wanted.end(), [](std::uint32_t much) { return much > 0; });
  }
};

/// The groups that are wanted, each with how much of it.
inline std::vector<std::pair<const ProgramGroup*, std::uint32_t>> groups_of(const ProgramRequest& request) {
  std::vector<std::pair<const ProgramGroup*, std::uint32_t>> groups;
  for (std::size_t i = 0; i < program_groups().size(); ++i) {
    if (request.wanted[i] > 0) groups.emplace_back(program_groups()[i], request.wanted[i]);
  }
  return groups;
}

}  // namespace syscost::ebpf
