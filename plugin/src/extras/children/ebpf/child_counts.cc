// SPDX-License-Identifier: MIT
#include "extras/children/ebpf/child_counts.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>

#include "backends/common/counts.h"
#include "backends/common/self_test.h"
#include "backends/ebpf/segments.h"
#include "extras/program_groups.h"
#include "os/detached_process.h"
#include "os/memory.h"

namespace syscost::ebpf {

ChildCounts::~ChildCounts() {
  if (has_cookie_ && !fork_detector_.is_fork_child()) set_own_calls_cookie(0);
}

void ChildCounts::know_own_calls_by(std::uint64_t cookie) {
  has_cookie_ = true;
  set_own_calls_cookie(SYSCOST_OWN_CALLS(cookie));
}

// ---- slots ----------------------------------------------------------------------------------------------------------

/// Without control characters; "unknown" where the kernel knew of no file.
ChildCounts::ProgramName ChildCounts::program_of(std::uint32_t slot) const {
  ProgramName name{};
  const char(&kept)[SYSCOST_PROGRAM_NAME] = children_.names[call_at(slot).program % SYSCOST_PROGRAMS];
  std::transform(std::begin(kept), std::end(kept) - 1, name.begin(),
                 [](char c) { return (c > 0 && c < ' ') || c == 0x7f ? '?' : c; });
  constexpr std::string_view kUnknown = "unknown";
  if (name[0] == 0) std::copy(kUnknown.begin(), kUnknown.end(), name.begin());
  return name;
}

SyscallId ChildCounts::syscall_of(std::uint32_t slot) const {
  const std::uint64_t packed = call_at(slot).syscall;
  return {static_cast<Abi>(packed >> 32 & 0xff), static_cast<std::uint32_t>(packed)};
}

bool ChildCounts::name_call(std::uint32_t slot, Crossing& crossing) {
  if (slot < SYSCOST_FIRST_CHILD_SLOT || slot >= SYSCOST_FIRST_CHILD_SLOT + SYSCOST_CHILD_SLOTS) return false;
  named_ = program_of(slot);
  crossing.program = named_.data();
  crossing.id = syscall_of(slot);
  return true;
}

// ---- segments -------------------------------------------------------------------------------------------------------

std::uint64_t ChildCounts::wait_for_programs() const {
  return wait_for_programs_on(cpus());
}

std::uint64_t ChildCounts::lost() const {
  return lost_on(cpus()) + load(children_.lost_processes);
}

void ChildCounts::read_programs(ProgramTables& into) {
  if (fork_detector_.is_fork_child()) return;
  syscost_child_bank& counted = children_.banks[ended_bank_];
  const auto table_of = [&](std::uint32_t slot) -> CallTable& { return into.at(program_of(slot).data()); };
  drain_bits(counted.dirty, std::size(counted.dirty), [&](std::uint32_t index) {
    const std::uint32_t slot = SYSCOST_FIRST_CHILD_SLOT + index;
    const SyscallId id = syscall_of(slot);
    if (is_unselected_beyond_table(filter_, id)) {
      cell_at(ended_bank_, index) = {};
    } else {
      take_cell(cell_at(ended_bank_, index), id, table_of(slot));
    }
  });
  drain_bits(counted.dirty_errors, std::size(counted.dirty_errors), [&](std::uint32_t index) {
    const syscost_child_error& error = children_.errors[index];
    const SyscallId id = syscall_of(error.slot);
    if (!is_unselected_beyond_table(filter_, id)) {
      table_of(error.slot).at(id).errors.add(static_cast<int>(error.error), counted.errors[index]);
    }
    counted.errors[index] = 0;
  });
}

void ChildCounts::begin_segment(std::uint32_t bank) {
  // What stragglers left there was counted as late when the bank was read.
  syscost_child_bank& left = children_.banks[bank];
  drain_bits(left.dirty, std::size(left.dirty), [&](std::uint32_t index) { cell_at(bank, index) = {}; });
  drain_bits(left.dirty_errors, std::size(left.dirty_errors), [&](std::uint32_t index) { left.errors[index] = 0; });
}

// ---- proof ----------------------------------------------------------------------------------------------------------

std::uint64_t ChildCounts::known_calls_of_a_child(Backend& backend, int& error) {
  backend.boundary(Lane::kProcess, Next::kArm);
  const pid_t child = clone_quietly();
  if (child == 0) {
    make_known_calls();
    _exit(0);
  }
  error = child < 0 ? errno : 0;
  if (child > 0) wait_for_quiet_child(child);
  backend.boundary(Lane::kProcess, Next::kDisarm);
  CallTable own(&quiet_memory());
  backend.read(Lane::kProcess, own);
  ProgramTables children(&quiet_memory());
  read_programs(children);
  std::uint64_t calls = 0;
  for (const auto& [program, table] : children) {
    if (const Tally* getppids = table.find({Abi::x86_64, SYS_getppid}); getppids != nullptr) calls += getppids->calls;
  }
  return calls;
}

Result<void> ChildCounts::prove(Backend& backend) {
  std::uint64_t calls = 0;
  // Children of other threads may make the same call, but not each time.
  for (int attempt = 0; attempt < 5; ++attempt) {
    int error = 0;
    calls = known_calls_of_a_child(backend, error);
    if (error != 0) return errno_failure("start", "a child to see whether it is counted", error);
    if (calls == kKnownCalls) return {};
  }
  return Failure{"the eBPF programs counted " + std::to_string(calls) + " of " + std::to_string(kKnownCalls) +
                     " known calls of a child",
                 "report this with the output of --syscost_doctor and uname -a"};
}

std::unique_ptr<Ability> make_child_counts(const ProcessAttachment& programs) {
  const std::vector<std::span<std::byte>>& maps = programs.memory().of(children_group());
  if (maps.empty()) return nullptr;
  const std::span<std::byte> cells = maps[1];
  auto counts = std::make_unique<ChildCounts>(
      *reinterpret_cast<syscost_children*>(maps[0].data()),
      std::span(reinterpret_cast<syscost_cell*>(cells.data()), cells.size() / sizeof(syscost_cell)),
      programs.memory().cpu_count, programs.fork_detector());
  counts->know_own_calls_by(programs.memory().cookie);
  return counts;
}

}  // namespace syscost::ebpf
