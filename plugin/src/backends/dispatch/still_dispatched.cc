// SPDX-License-Identifier: MIT
#include "backends/dispatch/still_dispatched.h"

#include <sys/syscall.h>

#include <atomic>
#include <cstdint>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/state.h"

namespace syscost::dispatch {
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
      return {"the program's seccomp filter forbids calls that the dispatch backend needs, so it stopped counting",
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
