// SPDX-License-Identifier: MIT
//
// The list of the groups of BPF programs that extras add to those of the eBPF backend.
#include "extras/program_groups.h"

#include <iterator>
#include <span>

namespace syscost::ebpf {

std::span<const ProgramGroup* const> program_groups() {
  static const ProgramGroup* const groups[] = {
      &scheduler_group(),  //
      &children_group(),   //
  };
  static_assert(std::size(groups) <= kMostProgramGroups);
  return groups;
}

}  // namespace syscost::ebpf
