// SPDX-License-Identifier: MIT
//
// ProcessAttachment: this process's use of the BPF programs, from opening to closing.
//
// A helper holds them (holder.h), for all measured processes or, where the request is this process's own business, for
// this one; where no helper can be, the process itself does. Either way the process gets maps of its own and enrols by
// its cookie. It keeps memory, and a few descriptors at high numbers: sockets, and files that can only be read. Fork
// children inherit neither (a child by _Fork or clone inherits the descriptors): one that gave up its rights cannot
// write counts of its parent.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/ebpf/holder.h"
#include "backends/ebpf/loaded_programs.h"
#include "backends/ebpf/shared.h"
#include "os/errors.h"
#include "os/own_calls.h"

namespace syscost::ebpf {

/// The memory that the programs and we share, as mapped here.
struct SharedMemory {
  std::span<syscost_block> blocks;
  std::uint32_t cpu_count = 0;
  std::uint64_t cookie = 0;  ///< First argument of a registration call.
  /// [bank][partition][slot - SYSCOST_SLOTS]; empty without details.
  std::span<syscost_cell> detail_cells{};
  /// What each group shares (ProgramGroup::shared_maps), in the order of program_groups(); empty if it is not wanted.
  std::array<std::vector<std::span<std::byte>>, kMostProgramGroups> of_groups{};

  const std::vector<std::span<std::byte>>& of(const ProgramGroup& group) const {
    const auto groups = program_groups();
    return of_groups.at(static_cast<std::size_t>(std::find(groups.begin(), groups.end(), &group) - groups.begin()));
  }
  std::uint32_t partition_count() const { return cpu_count + SYSCOST_LANES - 1; }
  std::span<syscost_lane> lanes() const { return blocks[0].head.lanes; }
  /// Possible CPUs only.
  std::span<syscost_cpu> cpus() const { return std::span(blocks[0].head.cpus).first(cpu_count); }
  syscost_directory& directory() const { return blocks[0].head.directory; }
  syscost_log_record& log_record(std::uint64_t index) const {
    const std::uint64_t block = index / SYSCOST_LOG_BLOCK_RECORDS % SYSCOST_LOG_BLOCKS;
    return blocks[SYSCOST_FIRST_LOG_BLOCK + block].log.records[index % SYSCOST_LOG_BLOCK_RECORDS];
  }
  /// `index`: of [bank][partition].
  syscost_bank& bank(std::uint32_t index) const { return blocks[SYSCOST_FIRST_BANK + index].bank; }
};

/// One registration call, and whether the programs saw it: exactly once, or something is wrong with how they are
/// attached.
class Registrations {
 public:
  enum class Seen { once, never, twice, denied };

  /// Makes the call for the calling thread. Any thread, at any time; one syscall, no memory.
  Seen say(const SharedMemory& memory, std::uint64_t token);

 private:
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> ended_{0};
};

class ProcessAttachment {
 public:
  /// Joins the others, or loads and attaches. On failure: which step, which errno, what to do.
  static Result<ProcessAttachment> open(const ProgramRequest& request);

  ProcessAttachment(ProcessAttachment&& other) noexcept;
  ProcessAttachment& operator=(ProcessAttachment&&) = delete;
  ProcessAttachment(const ProcessAttachment&) = delete;
  ~ProcessAttachment();

  /// Not there in a fork child.
  const SharedMemory& memory() const { return memory_; }
  bool is_fork_child() const { return fork_detector_.is_fork_child(); }
  const ForkDetector& fork_detector() const { return fork_detector_; }
  /// Why this process has programs of its own; empty: it shares them.
  const std::string& why_alone() const { return why_alone_; }

  /// `token` is the calling thread's registration, or 0: enrolling again would end it.
  Result<void> attach(std::uint64_t token);
  /// What the programs that stay attached follow is known when the others are attached again.
  void detach() { holder_->detach(); }
  /// Gives up the place, for ever. The memory stays.
  void retire();

  /// Makes the calling thread known as `token`. False when it is not: a seccomp filter answered in the kernel's place.
  bool register_thread(std::uint64_t token) const {
    return registrations_->say(memory_, token) != Registrations::Seen::denied;
  }

  /// Finds out whether all is as it was when this process enrolled: `token` as for attach(). Returns how many events
  /// the kernel did not show the programs since then, cumulative.
  Result<std::uint64_t> check(std::uint64_t token);

 private:
  ProcessAttachment() : registrations_(std::make_unique<Registrations>()) {}
  static Result<ProcessAttachment> open_shared(HelperLink::Obstacle& obstacle);
  static Result<ProcessAttachment> open_alone(const ProgramRequest& request);
  /// Maps the maps and enrols.
  Result<void> take(Joined& joined, const ProgramRequest& request);
  Result<void> map_all(const Joined& joined, const ProgramRequest& request);
  Result<void> enrol(std::uint64_t token) const;
  Failure not_enrolled() const;
  Runs runs_to_ask_for();

  ForkDetector fork_detector_;
  std::unique_ptr<Holder> holder_;
  std::unique_ptr<Registrations> registrations_;
  std::string why_alone_;
  SharedMemory memory_;
  bool is_counted_by_groups_ = false;  ///< ProgramGroup::counts_calls().
  std::uint64_t missed_before_ = 0;    ///< Runs that the kernel skipped before this process enrolled.
  std::uint64_t missed_runs_ = 0;      ///< As last asked; of the programs, since they were loaded.
  // As at the last check.
  std::uint64_t entered_twice_ = 0;
  std::uint64_t unresolved_ = 0;
};

}  // namespace syscost::ebpf
