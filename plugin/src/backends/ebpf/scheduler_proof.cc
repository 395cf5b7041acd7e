// SPDX-License-Identifier: MIT
#include "backends/ebpf/scheduler_proof.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "os/quiet_child.h"
#include "os/quiet_memory.h"

namespace syscost::ebpf {
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

/// What the events say of this thread.
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

Result<std::string> prove_scheduler_events(Backend& backend, SchedulerTrace& events) {
  const char* const how_to_fix = "report this with the output of --syscost_doctor and uname -a";
  bool any = false;
  // A thread that is slow to fall asleep is not woken: then again.
  for (int attempt = 0; attempt < 20; ++attempt) {
    events.clear();
    const std::uint64_t begin_ns = now_ns();
    backend.boundary(Lane::kProcess, Next::kArm);
    const int error = sleep_twice();
    backend.boundary(Lane::kProcess, Next::kDisarm);
    CallTable thrown_away(&quiet_memory());
    backend.read(Lane::kProcess, thrown_away);
    if (error != 0) return errno_failure("start", "a child to see what wakes this process", error);
    Seen seen(begin_ns);
    events.take(seen);
    any = any || seen.any;
    if (seen.other_clock) {
      return Failure{"the scheduler's events have another clock than this process: it is in a time namespace",
                     "leave --syscost_sched out, or run it outside of the namespace"};
    }
    if (!seen.is_whole) continue;
    using Waker = SchedulerEvent::Waker;
    if (*seen.by_child == Waker::other_process && *seen.by_timer == Waker::interrupt) return std::string();
    if (*seen.by_child == Waker::unknown && *seen.by_timer != Waker::thread) {
      return std::string(
          "this kernel's type information does not show what wakes a thread, so --syscost_sched says \"ended by: "
          "unknown\"");
    }
    return Failure{"the eBPF programs cannot tell a timer from a process that wakes this one", how_to_fix};
  }
  return Failure{
      any ? "the eBPF programs saw no wake-up of this process" : "the eBPF programs saw no event of the scheduler",
      how_to_fix};
}

}  // namespace syscost::ebpf
