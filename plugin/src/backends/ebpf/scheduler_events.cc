// SPDX-License-Identifier: MIT
#include "backends/ebpf/scheduler_events.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "backends/ebpf/reading.h"
#include "os/spin_lock.h"

namespace syscost::ebpf {
namespace {

std::optional<SyscallId> call_of(__u32 packed) {
  if (packed == SYSCOST_NO_SYSCALL) return std::nullopt;
  if (packed == SYSCOST_SHORT_UNKNOWN) return kUnknownSyscall;
  return SyscallId{static_cast<Abi>(packed >> 24), packed & SYSCOST_SHORT_UNKNOWN};
}

SchedulerEvent::Kind kind_of(const syscost_scheduler_event& event) {
  switch (event.kind) {
    case SYSCOST_THREAD_RUNS:
      return SchedulerEvent::Kind::runs;
    case SYSCOST_THREAD_PREEMPTED:
      return SchedulerEvent::Kind::preempted;
    case SYSCOST_THREAD_ENDS:
      return SchedulerEvent::Kind::ends;
    case SYSCOST_THREAD_WOKEN:
      return SchedulerEvent::Kind::woken;
    case SYSCOST_THREAD_CREATED:
      return SchedulerEvent::Kind::created;
    default:
      return SchedulerEvent::Kind::blocks;
  }
}

SchedulerEvent::Waker waker_of(const syscost_scheduler_event& event) {
  switch (event.waker_kind) {
    case SYSCOST_WAKER_THREAD:
      return SchedulerEvent::Waker::thread;
    case SYSCOST_WAKER_OTHER_PROCESS:
      return SchedulerEvent::Waker::other_process;
    case SYSCOST_WAKER_KERNEL_THREAD:
      return SchedulerEvent::Waker::kernel_thread;
    case SYSCOST_WAKER_INTERRUPT:
      return SchedulerEvent::Waker::interrupt;
    default:
      return SchedulerEvent::Waker::unknown;
  }
}

std::string_view name_of(const syscost_scheduler_event& event) {
  return {event.name, strnlen(event.name, sizeof event.name)};
}

/// By time. A thread leaves a CPU before another one gets it, so at one time the first event comes first.
bool comes_before(const syscost_scheduler_block& a, const syscost_scheduler_block& b) {
  return a.event.at_ns != b.event.at_ns ? a.event.at_ns < b.event.at_ns : a.event.sequence < b.event.sequence;
}

}  // namespace

std::uint64_t SchedulerEvents::take(SchedulerEventSink& sink) {
  syscost_scheduler_head& head = memory_[0].head;
  const std::uint64_t first = head.consumed;
  const std::uint64_t produced = load(head.produced) - first;
  const std::size_t kept = std::min<std::uint64_t>(produced, memory_.size() - 1);
  const std::span<syscost_scheduler_block> events = memory_.subspan(1, kept);
  std::uint64_t missing = produced - kept;
  int spins = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    __u64& sequence = events[i].event.sequence;
    // A program may still be writing it.
    for (; load(sequence) != first + i + 1 && spins < kMaxSpins; ++spins) relax_cpu();
    if (load(sequence) == first + i + 1) continue;
    ++missing;
    events[i].event.kind = 0;
  }
  std::sort(events.begin(), events.end(), comes_before);
  // The kernel's number of a thread stays; its id is gone when it has ended.
  std::map<__u32, std::uint32_t> ids;
  for (const syscost_scheduler_block& block : events) {
    if (block.event.kind == 0) continue;
    if (block.event.thread_id != 0) ids[block.event.thread] = block.event.thread_id;
    if (block.event.waker_id != 0) ids[block.event.waker] = block.event.waker_id;
  }
  const auto id_of = [&](__u32 thread) {
    const auto found = ids.find(thread);
    return found != ids.end() ? found->second : 0;
  };
  for (const syscost_scheduler_block& block : events) {
    const syscost_scheduler_event& event = block.event;
    if (event.kind == 0) continue;
    sink.add({.kind = kind_of(event),
              .at_ns = event.at_ns,
              .thread = id_of(event.thread),
              .name = name_of(event),
              .call = call_of(event.syscall),
              .waker = waker_of(event),
              .waker_thread = event.waker != 0 ? id_of(event.waker) : 0,
              .waker_call = call_of(event.waker_syscall)});
  }
  std::atomic_ref(head.consumed).store(first + produced, std::memory_order_release);
  return missing;
}

void SchedulerEvents::clear() {
  if (memory_.empty()) return;
  syscost_scheduler_head& head = memory_[0].head;
  std::atomic_ref(head.consumed).store(load(head.produced), std::memory_order_release);
}

}  // namespace syscost::ebpf
