// SPDX-License-Identifier: MIT
#include "backends/dispatch/probe.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "backends/common/self_test.h"
#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "backends/dispatch/stub/signals.h"
#include "backends/dispatch/threads.h"
#include "os/confinement.h"
#include "os/errors.h"

namespace syscost::dispatch {
namespace {

constexpr int kArmingFailed = 100;  // + errno, capped
constexpr int kCountedWrong = 90;
constexpr const char* kUseAnother = "choose another backend: --syscost_doctor says which work";

bool is_shadow_stack_on() {
  constexpr long kStatus = 0x5005;  // ARCH_SHSTK_STATUS
  std::uint64_t features = 0;
  return syscost_raw_syscall(SYS_arch_prctl, kStatus, reinterpret_cast<long>(&features)) == 0 && (features & 1) != 0;
}

/// Runs in the child; never returns. Uses no lock and no heap, because other threads may have left them in any state.
[[noreturn]] void be_the_child() {
  const signal_safe::Guard guard = signal_safe::EntryPoint::enter();
  struct Leave {
    [[noreturn]] void operator()(int status) const {
      for (;;) syscost_raw_syscall(SYS_exit_group, status);
    }
  };
  const Leave leave;
  auto fail = [&](long error) { leave(kArmingFailed + static_cast<int>(error < -150 ? 150 : -error)); };
  signal_safe::Thread* thread = signal_safe::take_thread(guard);
  if (thread == nullptr) leave(kCountedWrong);
  long error = signal_safe::take_signals_over(guard, *thread);
  if (error == 0) error = signal_safe::arm_calling_thread(guard, *thread);
  if (error < 0) fail(error);
  signal_safe::let_sigsys_through(*thread);
  syscost_state.lanes[0].control = signal_safe::control_of(1, 0, 0);
  syscost_selector = 1;
  for (std::uint64_t i = 0; i < kKnownCalls; ++i) make_dispatched_call(SYS_getppid);
  syscost_selector = 0;
  std::uint64_t counted = 0;
  for (std::uint32_t slot = 0; thread->account != nullptr && slot < signal_safe::kSlots; ++slot) {
    const signal_safe::Cell* cell = thread->account->cells[0][slot];
    if (cell != nullptr && syscost_state.directory.syscall_of[slot] == SYS_getppid) {
      for (const std::uint64_t bucket : cell->buckets) counted += bucket;
      counted += cell->calls_untimed;
    }
  }
  leave(counted == kKnownCalls ? 0 : kCountedWrong);
  __builtin_unreachable();
}

Failure explain(int status) {
  if (WIFSIGNALED(status)) {
    return {"Syscall User Dispatch is accepted but does not work here: a process that tried it was killed by signal " +
                std::to_string(WTERMSIG(status)),
            kUseAnother};
  }
  const int code = WEXITSTATUS(status);
  if (code == kCountedWrong) {
    const std::string all = std::to_string(kKnownCalls);
    return {"the dispatch stub did not count " + all + " of " + all + " known calls", kUseAnother};
  }
  const int error = code - kArmingFailed;
  if (error == EINVAL) {
    return {"the kernel has no Syscall User Dispatch (prctl: EINVAL)",
            "use Linux >= 5.11 on x86-64, outside gVisor; or choose another backend"};
  }
  if (error == EPERM || error == EACCES) {
    return {"Syscall User Dispatch is denied here (prctl: EPERM)",
            "allow prctl in the container's seccomp profile, or run without one: " +
                no_seccomp_setting(read_confinement().container)};
  }
  return errno_failure("arm", "Syscall User Dispatch", error);
}

}  // namespace

Result<void> check_requirements() {
  if (std::optional<Failure> lacking = missing_under_valgrind("Syscall User Dispatch")) return *std::move(lacking);
  constexpr unsigned long kHasFsgsbase = 2;  // HWCAP2_FSGSBASE
  if ((getauxval(AT_HWCAP2) & kHasFsgsbase) == 0) {
    return Failure{"the dispatch backend needs the FSGSBASE instructions, which this processor or kernel lacks",
                   "use Linux >= 5.9 on a processor of 2012 or later; or choose another backend"};
  }
  if (count_threads() == 0) {
    if (errno == EMFILE) return errno_failure("list", "this process's threads", EMFILE);
    return Failure{"the dispatch backend cannot list this process's threads: /proc/self/task: " +
                       std::string(std::strerror(errno)),
                   "mount /proc (mount -t proc proc /proc), or choose another backend"};
  }
  if (is_shadow_stack_on()) {
    return Failure{
        "the program runs with a shadow stack, which dispatch cannot update when it moves the frames of signals",
        kUseAnother};
  }
  const signal_safe::Guard guard = signal_safe::EntryPoint::enter();
  const void* base = signal_safe::gs_base();
  const bool is_ours =
      signal_safe::calling_thread(guard) != nullptr || base == &syscost_foreign_thread || base == &syscost_child_thread;
  if (base != nullptr && !is_ours) {
    return Failure{"this program uses the gs register, which the dispatch backend needs to identify threads",
                   kUseAnother};
  }
  return {};
}

Result<void> try_in_child() {
  // The flags of fork, but no exit signal, so that the program's SIGCHLD handler is not called.
  const long pid = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, 0);
  if (pid < 0) return errno_failure("fork", "a child to try Syscall User Dispatch in", errno);
  if (pid == 0) be_the_child();
  int status = 0;
  constexpr long kAll = 0x4000'0000;  // __WALL: also a child without exit signal
  long reaped = 0;
  do {
    reaped = syscost_raw_syscall(SYS_wait4, pid, reinterpret_cast<long>(&status), kAll, 0);
  } while (reaped == -EINTR);
  if (reaped != pid)
    return errno_failure("wait for", "the child that tried Syscall User Dispatch", static_cast<int>(-reaped));
  if (status != 0) return explain(status);
  return {};
}

namespace {

using signal_safe::StoodAside;

Failure why_aside(StoodAside reason) {
  constexpr const char* kFix = "measure this program with another backend";
  switch (reason) {
    case StoodAside::own_dispatch:
      return {"the program uses Syscall User Dispatch itself, so the dispatch backend stopped counting", kFix};
    case StoodAside::own_gs:
      return {
          "the program sets the gs register, which the dispatch backend needs to identify threads, so it stopped "
          "counting",
          kFix};
    case StoodAside::own_sigsys_file:
      return {
          "the program reads SIGSYS from a signalfd, which takes it from the dispatch backend, so it stopped counting",
          kFix};
    case StoodAside::own_filter:
      return {"the program's seccomp filter denies calls that the dispatch backend needs, so it stopped counting",
              kFix};
    default:
      return {"the program disabled the time-stamp counter (PR_SET_TSC), so the dispatch backend stopped counting",
              kFix};
  }
}

}  // namespace

Result<void> check_not_aside() {
  if (syscost_state.stood_aside != StoodAside::no) return why_aside(syscost_state.stood_aside);
  return {};
}

Result<void> check_still_dispatched() {
  const signal_safe::Guard guard = signal_safe::EntryPoint::enter();
  if (syscost_gs_was_changed != 0) signal_safe::stand_aside(guard, StoodAside::own_gs);
  if (Result<void> counts = check_not_aside(); !counts.ok()) return counts;
  const bool is_watched = signal_safe::calling_thread(guard) != nullptr;
  // In a timed pass, or a thread that one made.
  if (signal_safe::gs_base() == &syscost_foreign_thread) return {};
  // If the thread is older than the backend, the call is not dispatched. If the thread has lost its gs base, our
  // handler sees that now.
  std::atomic_ref trapped(syscost_state.trapped);
  const std::uint64_t before = trapped.load();
  make_dispatched_call(SYS_getppid);
  if (Result<void> counts = check_not_aside(); !counts.ok()) return counts;
  if (!is_watched || trapped.load() != before) return {};
  return Failure{"something outside syscost switched Syscall User Dispatch off, so calls are not counted any more",
                 "choose another backend"};
}

}  // namespace syscost::dispatch
