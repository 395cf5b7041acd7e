// SPDX-License-Identifier: MIT
//
// ChildCounts: counts of the processes below the measured one, by the program that each runs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "backends/ebpf/ability.h"
#include "core/extensions.h"
#include "core/selector.h"
#include "extras/children/bpf/children_shared.h"
#include "os/own_calls.h"

namespace syscost::ebpf {

/// A child's call belongs to the process lane's segment in which it entered. Its cells are one set for each bank, which
/// all CPUs add to; otherwise a bank is read and cleared as by Segments.
class ChildCounts final : public Ability, public ProgramReader {
 public:
  /// `cells`: [bank][slot - SYSCOST_FIRST_CHILD_SLOT].
  ChildCounts(syscost_children& children, std::span<syscost_cell> cells, std::uint32_t cpu_count,
              const ForkDetector& fork_detector)
      : children_(children), cells_(cells), cpu_count_(cpu_count), fork_detector_(fork_detector) {}
  ~ChildCounts() override;
  ChildCounts(const ChildCounts&) = delete;
  ChildCounts& operator=(const ChildCounts&) = delete;

  /// From now on, until this object ends, calls of ours in children can be marked (os/own_calls.h).
  void know_own_calls_by(std::uint64_t cookie);

  void* find(std::string_view name) override {
    return name == ProgramReader::kExtension ? static_cast<ProgramReader*>(this) : nullptr;
  }
  void select(const Filter& filter) override { filter_ = &filter; }
  void begin_segment(std::uint32_t bank) override;
  void end_segment(std::uint32_t bank) override { ended_bank_ = bank; }
  [[nodiscard]] std::uint64_t wait_for_programs() const override;
  std::uint64_t lost() const override;
  bool name_call(std::uint32_t slot, Crossing& crossing) override;
  Result<void> prove(Backend& backend) override;

  void read_programs(ProgramTables& into) override;

 private:
  /// A program's file name, ended by a zero.
  using ProgramName = std::array<char, SYSCOST_PROGRAM_NAME>;

  ProgramName program_of(std::uint32_t slot) const;
  SyscallId syscall_of(std::uint32_t slot) const;
  const syscost_child_call& call_at(std::uint32_t slot) const {
    return children_.calls[(slot - SYSCOST_FIRST_CHILD_SLOT) % SYSCOST_CHILD_SLOTS];
  }
  syscost_cell& cell_at(std::uint32_t bank, std::uint32_t index) const {
    return cells_[std::size_t{bank} * SYSCOST_CHILD_SLOTS + index];
  }
  std::span<const syscost_cpu> cpus() const { return std::span(children_.cpus).first(cpu_count_); }
  std::uint64_t known_calls_of_a_child(Backend& backend, int& error);

  syscost_children& children_;
  std::span<syscost_cell> cells_;
  std::uint32_t cpu_count_;
  ForkDetector fork_detector_;
  bool has_cookie_ = false;
  const Filter* filter_ = nullptr;  // null = everything is counted
  std::uint32_t ended_bank_ = 0;    // of the segment that ended last
  ProgramName named_{};             // of the call that name_call() named last
};

/// AbilityMaker.
std::unique_ptr<Ability> make_child_counts(const ProcessAttachment& programs);

}  // namespace syscost::ebpf
