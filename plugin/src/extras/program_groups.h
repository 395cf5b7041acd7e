// SPDX-License-Identifier: MIT
//
// The groups of BPF programs of the extras; program_groups() lists them. What each shares with the process
// (ProgramGroup::shared_maps) stands beside its name.
#pragma once

#include "backends/ebpf/program_group.h"

namespace syscost::ebpf {

/// Keeps the scheduler's events: the head, then the events.
const ProgramGroup& scheduler_group();

/// Counts the processes below: the table of children, then their cells, [bank][slot - SYSCOST_FIRST_CHILD_SLOT].
const ProgramGroup& children_group();

}  // namespace syscost::ebpf
