// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace syscost::ebpf {

/// Where the kernel keeps two variables of each CPU, counted from the CPU's run queue. extras/scheduler/bpf/scheduler.bpf.h uses these
/// distances, and checks them at each use.
///
/// The kernel's own list of addresses leaves variables out unless it was built with CONFIG_KALLSYMS_ALL, as Debian's is
/// and others are not. Its type information (BTF) has the offset of each variable of a CPU in their section, which is
/// the same for every CPU.
struct CpuVariables {
  std::int64_t preempt_count_from_queue = 0;
  std::int64_t current_task_from_queue = 0;
};

/// From the running kernel's type information, 10 ms. Empty if it does not say. Call it after open_libbpf().
std::optional<CpuVariables> find_cpu_variables();

}  // namespace syscost::ebpf
