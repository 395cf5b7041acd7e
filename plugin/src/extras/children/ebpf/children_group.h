// SPDX-License-Identifier: MIT
//
// The BPF programs that count the processes below the measured one: bpf/children.bpf.h.
#pragma once

#include "backends/ebpf/program_group.h"

namespace syscost::ebpf {

/// Shares two maps: the table of children, then their cells, [bank][slot - SYSCOST_FIRST_CHILD_SLOT].
const ProgramGroup& children_group();

}  // namespace syscost::ebpf
