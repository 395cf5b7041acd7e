// SPDX-License-Identifier: MIT OR GPL-2.0
//
// The list of the BPF programs that extras add to those which count the calls of a process. program_groups.cc says
// which of them belong together.
#pragma once

#include "children/bpf/child_programs.bpf.h"
#include "scheduler/bpf/scheduler.bpf.h"
