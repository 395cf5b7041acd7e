// SPDX-License-Identifier: MIT
#include "backends/ebpf/child_counts.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "backends/common/drain_bits.h"
#include "backends/common/selected_only.h"
#include "backends/ebpf/reading.h"

namespace syscost::ebpf {
namespace {

const syscost_child_call& call_at(const syscost_children& children, std::uint32_t slot) {
  return children.calls[(slot - SYSCOST_FIRST_CHILD_SLOT) % SYSCOST_CHILD_SLOTS];
}

}  // namespace

ProgramName program_of_child_slot(const syscost_children& children, std::uint32_t slot) {
  ProgramName name{};
  const char(&kept)[SYSCOST_PROGRAM_NAME] = children.names[call_at(children, slot).program % SYSCOST_PROGRAMS];
  std::transform(std::begin(kept), std::end(kept) - 1, name.begin(),
                 [](char c) { return (c > 0 && c < ' ') || c == 0x7f ? '?' : c; });
  constexpr std::string_view kUnknown = "unknown";
  if (name[0] == 0) std::copy(kUnknown.begin(), kUnknown.end(), name.begin());
  return name;
}

SyscallId syscall_of_child_slot(const syscost_children& children, std::uint32_t slot) {
  const std::uint64_t packed = call_at(children, slot).syscall;
  return {static_cast<Abi>(packed >> 32 & 0xff), static_cast<std::uint32_t>(packed)};
}

std::span<const syscost_cpu> ChildCounts::cpus() const {
  if (memory_.children == nullptr) return {};
  return std::span(memory_.children->cpus).first(memory_.cpu_count);
}

syscost_cell& ChildCounts::cell_at(std::uint32_t bank, std::uint32_t index) const {
  return memory_.child_cells[std::size_t{bank} * SYSCOST_CHILD_SLOTS + index];
}

std::uint64_t ChildCounts::wait_for_programs() const {
  return wait_for_programs_on(cpus());
}

std::uint64_t ChildCounts::lost() const {
  return memory_.children == nullptr ? 0 : lost_on(cpus()) + load(memory_.children->lost_processes);
}

void ChildCounts::take(std::uint32_t bank, const Filter* filter, ChildTables& into) {
  if (memory_.children == nullptr) return;
  syscost_children& children = *memory_.children;
  syscost_child_bank& counted = children.banks[bank];
  const auto table_of = [&](std::uint32_t slot) -> CallTable& {
    return into.at(program_of_child_slot(children, slot).data());
  };
  drain_bits(counted.dirty, std::size(counted.dirty), [&](std::uint32_t index) {
    const std::uint32_t slot = SYSCOST_FIRST_CHILD_SLOT + index;
    const SyscallId id = syscall_of_child_slot(children, slot);
    if (is_unselected_beyond_table(filter, id)) {
      cell_at(bank, index) = {};
    } else {
      take_cell(cell_at(bank, index), id, table_of(slot));
    }
  });
  drain_bits(counted.dirty_errors, std::size(counted.dirty_errors), [&](std::uint32_t index) {
    const syscost_child_error& error = children.errors[index];
    const SyscallId id = syscall_of_child_slot(children, error.slot);
    if (!is_unselected_beyond_table(filter, id)) {
      table_of(error.slot).at(id).errors.add(static_cast<int>(error.error), counted.errors[index]);
    }
    counted.errors[index] = 0;
  });
}

void ChildCounts::clear_leftovers(std::uint32_t bank) {
  if (memory_.children == nullptr) return;
  syscost_child_bank& left = memory_.children->banks[bank];
  drain_bits(left.dirty, std::size(left.dirty), [&](std::uint32_t index) { cell_at(bank, index) = {}; });
  drain_bits(left.dirty_errors, std::size(left.dirty_errors), [&](std::uint32_t index) { left.errors[index] = 0; });
}

}  // namespace syscost::ebpf
