// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/arming.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>

#include "backends/dispatch/stub/command.h"
#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/signals.h"
#include "backends/dispatch/stub/sigsys.h"
#include "backends/dispatch/stub/stacks.h"
#include "backends/dispatch/stub/trap_stacks.h"

namespace syscost::signal_safe {
namespace {

constexpr long kOff = 0;
constexpr long kOn = 1;

}  // namespace

long arm_calling_thread(const Guard& guard, Thread& thread) {
  // gs first: the next call may already come through the stub.
  set_gs_base(&thread);
  take_stack(guard, thread);
  const long id = syscost_raw_syscall(SYS_gettid);
  std::atomic_ref(thread.id).store(id > 0 ? static_cast<std::uint32_t>(id) : 0);
  const long begin = reinterpret_cast<long>(syscost_undispatched_begin);
  // The kernel looks at the byte after the instruction.
  const long length = reinterpret_cast<long>(syscost_undispatched_end) + 1 - begin;
  const long result =
      syscost_raw_syscall(SYS_prctl, kSetDispatch, kOn, begin, length, reinterpret_cast<long>(&syscost_selector));
  if (result >= 0) return result;
  std::atomic_ref(thread.id).store(0);
  give_stack_back(guard, thread);
  set_gs_base(nullptr);
  return result;
}

void disarm_calling_thread(const Guard& guard, bool is_last) {
  Thread* thread = calling_thread(guard);
  if (thread != nullptr) {
    std::atomic_ref(thread->id).store(0);
    give_stack_back(guard, *thread);
  }
  syscost_raw_syscall(SYS_prctl, kSetDispatch, kOff, 0, 0, 0);
  // A child that is born meanwhile inherits this base: no record counts it.
  set_gs_base(&syscost_foreign_thread);
  if (thread != nullptr) leave_sigsys_to_kernel(*thread, is_last);
}

Thread* calling_thread(const Guard& /*guard*/) {
  auto* base = static_cast<Thread*>(gs_base());
  return base >= syscost_threads && base < syscost_threads + kThreads ? base : nullptr;
}

bool is_being_born(const Guard& guard) {
  Thread* thread = calling_thread(guard);
  if (thread == nullptr) return false;
  const std::uint32_t id = std::atomic_ref(thread->id).load();
  return id != 0 && syscost_raw_syscall(SYS_gettid) != static_cast<long>(id);
}

void stand_aside(const Guard& guard, StoodAside reason) {
  if (syscost_state.stood_aside != StoodAside::no) return;
  syscost_state.stood_aside = reason;
  if (command_counts != nullptr) add_shared(command_counts->aside[static_cast<std::uint32_t>(reason)], 1);
  std::atomic_ref(syscost_selector).store(0);
  // Strict mode of seccomp forbids the time-stamp counter, too.
  if (reason == StoodAside::no_clock || reason == StoodAside::own_filter) {
    // Patched sites lead to the stub all the same, which stamps while anything is armed.
    std::atomic_ref(syscost_forbids_ticks).store(1);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) std::atomic_ref(syscost_state.lanes[lane].control).store(0);
  }
  if (reason != StoodAside::own_dispatch && reason != StoodAside::own_sigsys_file) return;
  Thread* thread = calling_thread(guard);
  if (thread != nullptr) leave_sigsys_to_kernel(*thread, true);
  give_signals_back(guard, !holds_trapped_calls(guard, thread));
  if (thread != nullptr) give_stack_back(guard, *thread);
}

}  // namespace syscost::signal_safe
