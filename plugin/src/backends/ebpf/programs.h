// SPDX-License-Identifier: MIT
//
// Programs: this process's use of the BPF programs, from opening to closing.
//
// They are shared with all other measured processes where a helper can hold them (helper_link.h), else loaded here.
// Either way the process gets a map of its own and enrols by its cookie, and all that stays is memory and a handful of
// file descriptors at high numbers: one per program (to ask for missed runs), one per attachment, one to the helper.
// The attachments are ours, too, so that a helper that is killed costs nobody a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backends/ebpf/helper_link.h"
#include "backends/ebpf/pair.h"
#include "backends/ebpf/shared.h"
#include "core/call_detail.h"
#include "core/result.h"

namespace syscost::ebpf {

/// What the programs and we share, as mapped here.
struct SharedMemory {
  std::span<syscost_block> blocks;
  std::uint32_t cpu_count = 0;
  std::uint64_t cookie = 0;  ///< First argument of a registration call.
  /// [bank][shard][slot - SYSCOST_SLOTS]; empty without details.
  std::span<syscost_cell> detail_cells{};
  syscost_children* children = nullptr;   ///< Null where they are not counted.
  std::span<syscost_cell> child_cells{};  ///< [bank][slot - SYSCOST_FIRST_CHILD_SLOT].

  std::uint32_t shard_count() const { return cpu_count + SYSCOST_LANES - 1; }
  std::span<syscost_lane> lanes() const { return blocks[0].head.lanes; }
  /// Possible CPUs only.
  std::span<syscost_cpu> cpus() const { return std::span(blocks[0].head.cpus).first(cpu_count); }
  syscost_directory& directory() const { return blocks[0].head.directory; }
  syscost_log_record& log_record(std::uint64_t index) const {
    const std::uint64_t block = index / SYSCOST_LOG_BLOCK_RECORDS % SYSCOST_LOG_BLOCKS;
    return blocks[SYSCOST_FIRST_LOG_BLOCK + block].log.records[index % SYSCOST_LOG_BLOCK_RECORDS];
  }
  /// Of [bank][shard].
  syscost_bank& bank(std::uint32_t index) const { return blocks[SYSCOST_FIRST_BANK + index].bank; }
};

/// Why nothing is counted any more, once descriptors turn out to be closed.
Failure taken_away();
/// The same, when system calls of ours are denied.
Failure shut_out();

class Programs {
 public:
  /// Joins the others, or loads and attaches. On failure: which step, which errno, what to do.
  /// Programs that tell calls apart by `details` or count `children` are not shared: what they look for, and find, is
  /// this process's.
  static Result<Programs> open(const DetailRequest& details, bool children);

  Programs(Programs&& other) noexcept;
  Programs& operator=(Programs&&) = delete;
  Programs(const Programs&) = delete;
  ~Programs();

  const SharedMemory& memory() const { return memory_; }
  /// Why this process runs a pair of its own; empty: it shares one.
  const std::string& why_alone() const { return why_alone_; }

  /// `token` is the calling thread's registration, or 0: enrolling again would end it.
  Result<void> attach(std::uint64_t token);
  /// Children born meanwhile are known when programs are attached again: births cost a fork, not a call.
  void detach();

  /// Runs that the kernel skipped because a program was already running on that CPU. Cumulative. Fails when the
  /// descriptors are not ours any more.
  Result<std::uint64_t> missed_runs() const;

 private:
  Programs() = default;
  static Result<Programs> open_shared(HelperLink::Obstacle& obstacle);
  static Result<Programs> open_alone(const DetailRequest& details, bool children);
  /// Keeps the programs, maps the map and enrols. Takes over the descriptors.
  Result<void> take(const HelperLink::Place& place);
  Result<void> map_details(int map);
  Result<void> map_children(const Pair& pair);

  /// Programs that are attached, and taken off, together.
  struct Set {
    ProgramDescriptors programs{-1, -1, -1};
    ProgramDescriptors links{-1, -1, -1};
    std::array<std::uint32_t, kProgramCount> ids{};

    bool is_loaded() const { return programs[0] >= 0; }
    /// Both take over the descriptors.
    Result<void> keep_programs(const ProgramDescriptors& descriptors);
    void keep_links(const ProgramDescriptors& descriptors);
    /// Attaches programs that are loaded and not attached.
    Result<void> attach();
    void detach();
  };
  static ProgramDescriptors copies(const ProgramDescriptors& descriptors);
  Result<void> enrol(std::uint64_t token) const;

  std::optional<HelperLink> helper_;
  std::string why_alone_;
  Set own_;        // count this process
  Set children_;   // count the processes below it
  Set following_;  // know who they are
  SharedMemory memory_;
};

}  // namespace syscost::ebpf
