// SPDX-License-Identifier: MIT
#include "backends/ebpf/segments.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>

#include "core/spin_lock.h"
#include "syscost/histogram.h"

namespace syscost::ebpf {
namespace {

static_assert(SYSCOST_BUCKETS == kHistogramBuckets);

std::uint64_t load(const __u64& word) {
  return std::atomic_ref(const_cast<__u64&>(word)).load(std::memory_order_acquire);
}

// About a tenth of a second of waiting: far beyond any program's length and most pauses of a virtual CPU.
constexpr int kMaxSpins = 2'000'000;

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

/// Calls visit(index) for each set bit and clears the words.
template <class Visit>
void drain_bits(__u64* words, std::size_t word_count, Visit visit) {
  for (std::size_t w = 0; w < word_count; ++w) {
    std::uint64_t bits = words[w];
    if (bits == 0) continue;
    words[w] = 0;
    for (; bits != 0; bits &= bits - 1) visit(static_cast<std::uint32_t>(w * 64 + std::countr_zero(bits)));
  }
}

}  // namespace

std::uint64_t Segments::wait_for_programs() const {
  std::uint64_t running = 0;
  for (const syscost_cpu& cpu : memory_.cpus()) {
    for (const __u64* sequence : {&cpu.enter_sequence, &cpu.exit_sequence, &cpu.deliver_sequence}) {
      if (!wait_while_odd(*sequence)) ++running;
    }
  }
  return running;
}

Segments::Range Segments::shards_of(Lane lane, std::uint32_t bank) const {
  std::uint32_t base = bank * memory_.shard_count();
  if (lane == Lane::kProcess) return {base, base + memory_.cpu_count};
  std::uint32_t own = base + memory_.cpu_count + static_cast<std::uint32_t>(lane) - 1;
  return {own, own + 1};
}

void Segments::take(Lane lane, std::uint32_t bank, CallTable& into) {
  auto [first, end] = shards_of(lane, bank);
  for (std::uint32_t shard = first; shard < end; ++shard) take_shard(shard, into);
}

void Segments::take_shard(std::uint32_t shard_index, CallTable& into) {
  syscost_bank& shard = memory_.bank(shard_index);
  __u64 touched[SYSCOST_DIRTY_WORDS] = {};
  for (std::size_t w = 0; w < dirty_words(); ++w) {
    touched[w] = shard.dirty_enter[w] | shard.dirty_exit[w] | shard.dirty_deliver[w];
    shard.dirty_enter[w] = shard.dirty_exit[w] = shard.dirty_deliver[w] = 0;
  }
  drain_bits(touched, dirty_words(),
             [&](std::uint32_t slot) { take_cell(cell_at(shard_index, slot), into.at(syscall_of(slot))); });
  drain_bits(shard.dirty_errors, SYSCOST_ERROR_DIRTY_WORDS, [&](std::uint32_t error_slot) {
    std::uint32_t error = memory_.directory().error_of[error_slot];
    into.at(syscall_of(error >> 16)).errors.add(static_cast<int>(error & 0xffff), shard.errors[error_slot]);
    shard.errors[error_slot] = 0;
  });
}

void Segments::take_cell(syscost_cell& cell, Tally& into) {
  // Of one detail on one CPU the moves may exceed the entries; over all CPUs they do not, and the sum wraps back.
  into.entries += cell.entries + cell.moved_in - cell.moved_out;
  into.calls += cell.calls + cell.interrupted;
  into.restarts += cell.restarts_plain + cell.restarts_handler;
  into.no_return += cell.no_return;
  into.carried_in += cell.carried_in;
  into.denied += cell.denied;
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

void Segments::clear_leftovers(Lane lane, std::uint32_t bank) {
  auto [first, end] = shards_of(lane, bank);
  for (std::uint32_t index = first; index < end; ++index) {
    syscost_bank& shard = memory_.bank(index);
    for (auto* words : {shard.dirty_enter, shard.dirty_exit, shard.dirty_deliver}) {
      drain_bits(words, dirty_words(), [&](std::uint32_t slot) { cell_at(index, slot) = {}; });
    }
    drain_bits(shard.dirty_errors, SYSCOST_ERROR_DIRTY_WORDS, [&](std::uint32_t slot) { shard.errors[slot] = 0; });
  }
}

void Segments::take_crossings(CrossingSink& sink) {
  syscost_directory& directory = memory_.directory();
  std::uint64_t produced = load(directory.log_produced);
  while (log_position_ < produced) {
    syscost_log_record& record = memory_.log_record(log_position_);
    std::uint64_t expected = log_position_ + 1;
    // A record given up for want of room keeps its old sequence, for ever; one being written changes soon.
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
    crossing.id = syscall_of(record.slot);
    crossing.outcome = record.outcome == SYSCOST_OUTCOME_CALL ? Crossing::Outcome::kCall : Crossing::Outcome::kRestart;
    crossing.error = record.error;
    crossing.has_latency = record.latency_counted == 0;
    crossing.latency_ns = record.latency_ns;
    sink.add(crossing);
  }
  std::atomic_ref(directory.log_consumed).store(log_position_, std::memory_order_release);
}

std::uint64_t Segments::lost() const {
  std::uint64_t lost = std::max(load(memory_.directory().log_lost), log_gaps_);
  for (const syscost_cpu& cpu : memory_.cpus()) {
    lost += load(cpu.lost_enter) + load(cpu.lost_exit) + load(cpu.lost_deliver);
  }
  return lost;
}

syscost_cell& Segments::cell_at(std::uint32_t shard, std::uint32_t slot) {
  if (slot < SYSCOST_SLOTS) return memory_.bank(shard).cells[slot];
  return memory_.detail_cells[std::size_t{shard} * SYSCOST_DETAIL_SLOTS + (slot - SYSCOST_SLOTS)];
}

SyscallId Segments::syscall_of(std::uint32_t slot) const {
  if (slot >= SYSCOST_SLOTS) {
    const syscost_detail& detail = memory_.directory().details[(slot - SYSCOST_SLOTS) % SYSCOST_DETAIL_SLOTS];
    SyscallId id = syscall_of(detail.slot % SYSCOST_SLOTS);
    id.detail = {.file = static_cast<FileKind>(detail.file),
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
