// SPDX-License-Identifier: MIT
//
// What reading the programs' memory is made of: a cell taken, a program waited for. Memory accesses only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/ebpf/shared.h"
#include "core/tally.h"

namespace syscost::ebpf {

/// A word that programs write.
std::uint64_t load(const __u64& word);

/// Spins to wait: about a tenth of a second, far beyond any program's length and most pauses of a virtual CPU.
inline constexpr int kMaxSpins = 2'000'000;

/// Of the programs running at the call on these CPUs, how many still are when the wait is over.
std::uint64_t wait_for_programs_on(std::span<const syscost_cpu> cpus);

/// What programs could not record on these CPUs. Cumulative.
std::uint64_t lost_on(std::span<const syscost_cpu> cpus);

/// Adds a cell to the tally of `id` in `table`, and clears it.
void take_cell(syscost_cell& cell, SyscallId id, CallTable& table);

}  // namespace syscost::ebpf
