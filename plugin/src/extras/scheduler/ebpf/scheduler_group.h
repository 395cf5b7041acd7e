// SPDX-License-Identifier: MIT
//
// The BPF programs that keep the scheduler's events: bpf/scheduler.bpf.h.
#pragma once

#include "backends/ebpf/program_group.h"

namespace syscost::ebpf {

/// Shares one map: its head, then the events.
const ProgramGroup& scheduler_group();

}  // namespace syscost::ebpf
