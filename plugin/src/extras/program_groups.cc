// SPDX-License-Identifier: MIT
//
// The list of the groups of BPF programs that extras add to those of the eBPF backend.
#include "extras/program_groups.h"

#include <span>

namespace syscost::ebpf {

std::span<const ProgramGroup* const, kProgramGroups> program_groups() {
  static const ProgramGroup* const groups[] = {&children_group(), &scheduler_group()};
  return groups;
}

}  // namespace syscost::ebpf
