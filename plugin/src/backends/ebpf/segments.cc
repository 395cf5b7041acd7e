// SPDX-License-Identifier: MIT
#include "backends/ebpf/segments.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>

#include "backends/common/counts.h"
#include "os/spin_lock.h"
#include "syscost/histogram.h"

namespace syscost::ebpf {
namespace {

static_assert(SYSCOST_BUCKETS == kHistogramBuckets);

/// True when the program that was running at the call has ended.
bool wait_while_odd(const __u64& sequence) {
  const std::uint64_t seen = load(sequence);
  if ((seen & 1) == 0) return true;
  for (int spin = 0; spin < kMaxSpins; ++spin) {
    if (load(sequence) != seen) return true;
    relax_cpu();
  }
  return false;
}

}  // namespace

std::uint64_t load(const __u64& word) {
  return std::atomic_ref(const_cast<__u64&>(word)).load(std::memory_order_acquire);
}

std::uint64_t wait_for_programs_on(std::span<const syscost_cpu> cpus) {
  std::uint64_t running = 0;
  for (const syscost_cpu& cpu : cpus) {
    for (const __u64* sequence : {&cpu.enter_sequence, &cpu.exit_sequence, &cpu.deliver_sequence}) {
      if (!wait_while_odd(*sequence)) ++running;
    }
  }
  return running;
}

std::uint64_t lost_on(std::span<const syscost_cpu> cpus) {
  std::uint64_t lost = 0;
  for (const syscost_cpu& cpu : cpus) lost += load(cpu.lost_enter) + load(cpu.lost_exit) + load(cpu.lost_deliver);
  return lost;
}

void take_cell(syscost_cell& cell, SyscallId id, CallTable& table) {
  Tally& into = table.at(id);
  // For one detail on one CPU there may be more moves than entries, so the number wraps. The sum over all CPUs is right
  // again.
  into.entries += cell.entries + cell.moved_in - cell.moved_out;
  into.calls += cell.calls + cell.interrupted;
  into.restarts += cell.restarts_plain + cell.restarts_handler;
  into.no_return += cell.no_return;
  into.by_started_threads += cell.started;
  into.by_older_threads += cell.older;
  into.carried_in += cell.carried_in;
  into.denied += cell.denied;
  add_bytes(into, id, cell.bytes, cell.bytes_second);
  if (cell.interrupted != 0) into.errors.add(EINTR, cell.interrupted);
  if (cell.latency_count != 0) {
    std::size_t last = histogram_bucket(cell.latency_max_ns);
    for (std::size_t bucket = histogram_bucket(cell.latency_min_ns); bucket <= last; ++bucket) {
      if (cell.buckets[bucket] == 0) continue;
      into.latency.add_bucket(bucket, cell.buckets[bucket]);
      cell.buckets[bucket] = 0;
    }
    into.latency.add_exact(cell.latency_count, cell.latency_sum_ns, cell.latency_min_ns, cell.latency_max_ns);
  }
  std::memset(&cell, 0, offsetof(syscost_cell, buckets));
}

std::uint64_t Segments::wait_for_programs() const {
  return wait_for_programs_on(memory_.cpus());
}

Segments::Range Segments::partitions_of(Lane lane, std::uint32_t bank) const {
  std::uint32_t base = bank * memory_.partition_count();
  if (lane == Lane::kProcess) return {base, base + memory_.cpu_count};
  std::uint32_t own = base + memory_.cpu_count + static_cast<std::uint32_t>(lane) - 1;
  return {own, own + 1};
}

void Segments::take(Lane lane, std::uint32_t bank, CallTable& into) {
  auto [first, end] = partitions_of(lane, bank);
  for (std::uint32_t partition = first; partition < end; ++partition) take_partition(partition, into);
}

void Segments::take_partition(std::uint32_t partition_index, CallTable& into) {
  syscost_bank& partition = memory_.bank(partition_index);
  __u64 touched[SYSCOST_DIRTY_WORDS] = {};
  for (std::size_t w = 0; w < dirty_words(); ++w) {
    touched[w] = partition.dirty_enter[w] | partition.dirty_exit[w] | partition.dirty_deliver[w];
    partition.dirty_enter[w] = partition.dirty_exit[w] = partition.dirty_deliver[w] = 0;
  }
  drain_bits(touched, dirty_words(),
             [&](std::uint32_t slot) { take_cell(cell_at(partition_index, slot), syscall_of(slot), into); });
  drain_bits(partition.dirty_errors, SYSCOST_ERROR_DIRTY_WORDS, [&](std::uint32_t error_slot) {
    std::uint32_t error = memory_.directory().error_of[error_slot];
    into.at(syscall_of(error >> 16)).errors.add(static_cast<int>(error & 0xffff), partition.errors[error_slot]);
    partition.errors[error_slot] = 0;
  });
}

void Segments::clear_leftovers(Lane lane, std::uint32_t bank) {
  auto [first, end] = partitions_of(lane, bank);
  for (std::uint32_t index = first; index < end; ++index) {
    syscost_bank& partition = memory_.bank(index);
    for (auto* words : {partition.dirty_enter, partition.dirty_exit, partition.dirty_deliver}) {
      drain_bits(words, dirty_words(), [&](std::uint32_t slot) { cell_at(index, slot) = {}; });
    }
    drain_bits(partition.dirty_errors, SYSCOST_ERROR_DIRTY_WORDS,
               [&](std::uint32_t slot) { partition.errors[slot] = 0; });
  }
}

namespace {

Crossing::Outcome outcome_of(const syscost_log_record& record) {
  switch (record.outcome) {
    case SYSCOST_OUTCOME_RESTART:
      return Crossing::Outcome::kRestart;
    case SYSCOST_OUTCOME_NO_RETURN:
      return Crossing::Outcome::kNoReturn;
    default:
      return Crossing::Outcome::kCall;
  }
}

}  // namespace

void Segments::take_crossings(CrossingSink& sink, const Abilities& abilities) {
  syscost_directory& directory = memory_.directory();
  std::uint64_t produced = load(directory.log_produced);
  while (log_position_ < produced) {
    syscost_log_record& record = memory_.log_record(log_position_);
    std::uint64_t expected = log_position_ + 1;
    // A record that was dropped for lack of room keeps its old sequence for ever. A record that is being written
    // changes soon.
    for (int spin = 0; load(record.sequence) != expected && log_gaps_ >= load(directory.log_lost) && spin < kMaxSpins;
         ++spin) {
      relax_cpu();
    }
    ++log_position_;
    if (load(record.sequence) != expected) {
      ++log_gaps_;
      continue;
    }
    Crossing crossing;
    crossing.entered_in = record.entered_in;
    crossing.returned_in = record.returned_in;
    crossing.lane = static_cast<Lane>(record.lane);
    crossing.returned_lane = static_cast<Lane>(record.returned_lane);
    const bool is_named = record.slot >= SYSCOST_FIRST_SLOT_OF_GROUPS &&
                          std::any_of(abilities.begin(), abilities.end(), [&](const std::unique_ptr<Ability>& ability) {
                            return ability->name_call(record.slot, crossing);
                          });
    if (!is_named) crossing.id = syscall_of(record.slot);
    crossing.outcome = outcome_of(record);
    crossing.error = record.error;
    crossing.has_latency = record.latency_counted == 0;
    crossing.latency_ns = record.latency_ns;
    add_bytes(crossing, record.bytes, record.bytes_second);
    sink.add(crossing);
  }
  std::atomic_ref(directory.log_consumed).store(log_position_, std::memory_order_release);
}

std::uint64_t Segments::lost() const {
  return std::max(load(memory_.directory().log_lost), log_gaps_) + lost_on(memory_.cpus());
}

syscost_cell& Segments::cell_at(std::uint32_t partition, std::uint32_t slot) {
  if (slot < SYSCOST_SLOTS) return memory_.bank(partition).cells[slot];
  return memory_.detail_cells[std::size_t{partition} * SYSCOST_DETAIL_SLOTS + (slot - SYSCOST_SLOTS)];
}

SyscallId Segments::syscall_of(std::uint32_t slot) const {
  if (slot >= SYSCOST_SLOTS) {
    const syscost_detail& detail = memory_.directory().details[(slot - SYSCOST_SLOTS) % SYSCOST_DETAIL_SLOTS];
    SyscallId id = syscall_of(detail.slot % SYSCOST_SLOTS);
    id.detail = {.file = static_cast<FileKind>(detail.file),
                 .to = static_cast<FileKind>(detail.to),
                 .is_kind_only = detail.is_kind_only != 0,
                 .is_driver_thread = detail.is_driver_thread != 0,
                 .has_command = detail.has_command != 0,
                 .device = detail.device,
                 .request = detail.request,
                 .command = detail.command,
                 .status = detail.status};
    return id;
  }
  std::uint64_t packed = memory_.directory().syscall_of[slot % SYSCOST_SLOTS];
  return {static_cast<Abi>(packed >> 32 & 0xff), static_cast<std::uint32_t>(packed)};
}

}  // namespace syscost::ebpf
