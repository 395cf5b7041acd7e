// SPDX-License-Identifier: MIT
#include "backends/ebpf/reading.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "backends/common/counted_bytes.h"
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

}  // namespace syscost::ebpf
