// SPDX-License-Identifier: MIT
//
// ChildCounts: reads what the programs counted of children, by the program that each runs.
//
// A child's call belongs to the process lane's segment in which it entered. Its cells are one set for each bank, which
// all CPUs add to; otherwise a bank is read and cleared as the process's own are (segments.h).
#pragma once

#include <array>
#include <cstdint>

#include "backends/ebpf/process_attachment.h"
#include "core/child_tables.h"
#include "core/filter.h"
#include "core/syscall_id.h"

namespace syscost::ebpf {

/// A program's file name, ended by a zero.
using ProgramName = std::array<char, SYSCOST_PROGRAM_NAME>;

/// What a child's slot stands for. The name is without control characters; "unknown" where the kernel knew of no file.
ProgramName program_of_child_slot(const syscost_children& children, std::uint32_t slot);
SyscallId syscall_of_child_slot(const syscost_children& children, std::uint32_t slot);

/// Memory accesses only; callers hold the window book's lock. Without children in `memory` everything is nothing.
class ChildCounts {
 public:
  explicit ChildCounts(const SharedMemory& memory) : memory_(memory) {}

  /// As Segments has them.
  [[nodiscard]] std::uint64_t wait_for_programs() const;
  void clear_leftovers(std::uint32_t bank);
  std::uint64_t lost() const;

  /// Adds the counts of `bank` to `into`, but for what `filter` (null = nothing) leaves out, and clears them.
  void take(std::uint32_t bank, const Filter* filter, ChildTables& into);

 private:
  syscost_cell& cell_at(std::uint32_t bank, std::uint32_t index) const;
  std::span<const syscost_cpu> cpus() const;

  SharedMemory memory_;
};

}  // namespace syscost::ebpf
