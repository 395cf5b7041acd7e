// SPDX-License-Identifier: MIT
#include "extras/scheduler/ebpf/scheduler_events.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <string_view>

#include "backends/ebpf/segments.h"
#include "extras/program_groups.h"
#include "os/detached_process.h"
#include "os/memory.h"
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

namespace {

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void sleep_for(long ns) {
  const timespec duration{.tv_sec = 0, .tv_nsec = ns};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

/// Notes what the events say of this thread.
class Seen final : public SchedulerEventSink {
 public:
  explicit Seen(std::uint64_t begin_ns) : begin_ns_(begin_ns), end_ns_(now_ns()) {}

  void add(const SchedulerEvent& event) override {
    if (event.thread != own_) return;
    any = true;
    if (event.at_ns < begin_ns_ || event.at_ns > end_ns_) other_clock = true;
    if (event.kind != SchedulerEvent::Kind::woken || !event.call.has_value()) return;
    if (*event.call == SyscallId{Abi::x86_64, SYS_wait4}) by_child = event.waker;
    if (*event.call == SyscallId{Abi::x86_64, SYS_clock_nanosleep}) by_timer = event.waker;
    is_whole = by_child.has_value() && by_timer.has_value();
  }

  bool any = false;
  bool other_clock = false;
  bool is_whole = false;  ///< Both wake-ups were seen.
  std::optional<SchedulerEvent::Waker> by_child;
  std::optional<SchedulerEvent::Waker> by_timer;

 private:
  std::uint64_t begin_ns_;
  std::uint64_t end_ns_;
  std::uint32_t own_ = static_cast<std::uint32_t>(gettid());
};

/// 0, or why no child could be started.
int sleep_twice() {
  const pid_t child = clone_quietly();
  if (child == 0) {
    sleep_for(200'000);
    _exit(0);
  }
  if (child < 0) return errno;
  wait_for_quiet_child(child);
  sleep_for(50'000);
  return 0;
}

}  // namespace

void* SchedulerEvents::find(std::string_view name) {
  if (name != SchedulerTrace::kExtension || fork_detector_.is_fork_child()) return nullptr;
  return static_cast<SchedulerTrace*>(this);
}

Result<void> SchedulerEvents::prove(Backend& backend) {
  const char* const how_to_fix = "report this with the output of --syscost_doctor and uname -a";
  bool any = false;
  // A thread that is slow to fall asleep is not woken: then again.
  for (int attempt = 0; attempt < 20; ++attempt) {
    clear();
    const std::uint64_t begin_ns = now_ns();
    backend.boundary(Lane::kProcess, Next::kArm);
    const int error = sleep_twice();
    backend.boundary(Lane::kProcess, Next::kDisarm);
    CallTable thrown_away(&quiet_memory());
    backend.read(Lane::kProcess, thrown_away);
    if (error != 0) return errno_failure("start", "a child to see what wakes this process", error);
    Seen seen(begin_ns);
    take(seen);
    any = any || seen.any;
    if (seen.other_clock) {
      return Failure{"the scheduler's events have another clock than this process: it is in a time namespace",
                     "leave --syscost_sched out, or run it outside of the namespace"};
    }
    if (!seen.is_whole) continue;
    using Waker = SchedulerEvent::Waker;
    if (*seen.by_child == Waker::other_process && *seen.by_timer == Waker::interrupt) return {};
    if (*seen.by_child == Waker::unknown && *seen.by_timer != Waker::thread) {
      remark_ =
          "this kernel's type information does not show what wakes a thread, so --syscost_sched says \"ended by: "
          "unknown\"";
      return {};
    }
    return Failure{"the eBPF programs cannot tell a timer from a process that wakes this one", how_to_fix};
  }
  return Failure{
      any ? "the eBPF programs saw no wake-up of this process" : "the eBPF programs saw no event of the scheduler",
      how_to_fix};
}

std::unique_ptr<Ability> make_scheduler_events(const ProcessAttachment& programs) {
  const std::vector<std::span<std::byte>>& maps = programs.memory().of(scheduler_group());
  if (maps.empty()) return nullptr;
  return std::make_unique<SchedulerEvents>(std::span(reinterpret_cast<syscost_scheduler_block*>(maps[0].data()),
                                                     maps[0].size() / sizeof(syscost_scheduler_block)),
                                           programs.fork_detector());
}

}  // namespace syscost::ebpf
