// SPDX-License-Identifier: MIT
//
// Reads the counts that the programs made of the process (Segments) and of its children (ChildCounts), and clears them
// for the next segment. Memory accesses only; callers hold the window book's lock.
//
// A segment's counts lie in one bank, split into partitions (CPUs, or one thread's lane) so that programs never write
// to the same cell at once. Before a bank is read, no program may be writing to it. The boundary has stored a new
// control, and every program announces itself before it reads a control, so it is enough to wait until the programs
// that were running at that moment have ended: nanoseconds, or longer where a virtual CPU was taken away mid-program.
// The wait is bounded; a program that is still running then may add one event to a bank already read, and is counted as
// late.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/ebpf/ability.h"
#include "backends/ebpf/process_attachment.h"
#include "backends/ebpf/shared.h"
#include "core/backend.h"
#include "core/selector.h"
#include "core/syscall_id.h"
#include "core/tally.h"

namespace syscost::ebpf {

/// A word that programs write.
std::uint64_t load(const __u64& word);

/// Spins to wait: about a tenth of a second, far beyond any program's length and most pauses of a virtual CPU.
inline constexpr int kMaxSpins = 2'000'000;

/// Waits for the programs that run at the call on these CPUs. Returns how many still run when the wait is over.
std::uint64_t wait_for_programs_on(std::span<const syscost_cpu> cpus);

/// Events that programs could not record on these CPUs. Cumulative.
std::uint64_t lost_on(std::span<const syscost_cpu> cpus);

/// Adds a cell to the tally of `id` in `table`, and clears it.
void take_cell(syscost_cell& cell, SyscallId id, CallTable& table);

/// Counts of the process.
class Segments {
 public:
  explicit Segments(const SharedMemory& memory) : memory_(memory) {}

  /// Returns once no program that began before this call is running, or after about a tenth of a second: then with the
  /// number of programs, each good for at most one event, that are still running.
  [[nodiscard]] std::uint64_t wait_for_programs() const;

  /// Adds the counts of `lane`'s `bank` to `into` and clears them.
  void take(Lane lane, std::uint32_t bank, CallTable& into);

  /// Clears counts that stragglers left in `lane`'s `bank`, so that it can be armed. They were counted as late when it
  /// was read.
  void clear_leftovers(Lane lane, std::uint32_t bank);

  /// Delivers the crossings logged since the last call. Waits, bounded, for a record being written. A record of
  /// another process is named by the ability that has its slot.
  void take_crossings(CrossingSink& sink, const Abilities& abilities = {});

  /// Events that programs could not record. Cumulative.
  std::uint64_t lost() const;

 private:
  struct Range {
    std::uint32_t first;
    std::uint32_t end;
  };
  Range partitions_of(Lane lane, std::uint32_t bank) const;
  void take_partition(std::uint32_t partition, CallTable& into);
  SyscallId syscall_of(std::uint32_t slot) const;
  syscost_cell& cell_at(std::uint32_t partition, std::uint32_t slot);
  /// Without details only the first slots are in use.
  std::size_t dirty_words() const { return memory_.detail_cells.empty() ? SYSCOST_SLOTS / 64 : SYSCOST_DIRTY_WORDS; }

  SharedMemory memory_;
  std::uint64_t log_position_ = 0;
  std::uint64_t log_gaps_ = 0;
};

}  // namespace syscost::ebpf
