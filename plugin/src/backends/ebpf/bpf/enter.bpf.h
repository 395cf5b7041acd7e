// SPDX-License-Identifier: MIT OR GPL-2.0
//
// sys_enter: what segment and cell a call belongs to, decided once, when it enters. `child` is null for the process's
// own threads.
#pragma once

#include "enrolment.bpf.h"
#include "state.bpf.h"
#include "syscall_numbers.bpf.h"
#include "target.bpf.h"

// The call that waits for its fate is starting again, without a handler in between.
static __always_inline void resolve_plain_restart(const struct process* process, const struct child* child,
                                                  struct thread_state* thread, __u64 control, __u32 lane) {
  thread->pending = PENDING_NONE;
  if (thread->control == control) {
    struct count_target target;
    if (find_count_target(process, child, control, thread->entered_lane, thread->slot, &target)) {
      add_one(child, &target.cell->restarts_plain);
    }
  } else if (thread->control && control) {
    log_crossing(process, thread, control, lane, SYSCOST_OUTCOME_RESTART, thread->latency_ns == 0, 0);
  }
}

// A thread that enters a call has left the one before, and the program of exits has seen it: unless the kernel skipped
// its run, or a second attachment of this program sees the call for the second time.
static __always_inline bool is_inside_a_call(const struct thread_state* thread) {
  return thread->pending == PENDING_INSIDE || thread->pending == PENDING_OURS || thread->pending == PENDING_IGNORED;
}

// Called with the current task, so that it is fetched once per program.
static __always_inline void handle_enter(const struct process* process, const struct child* child,
                                         struct task_struct* task, struct pt_regs* regs, long number,
                                         struct syscost_cpu* cpu) {
  struct thread_state* thread =
      child ? &child->state->thread : bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) {
    if (READ_ONCE(process->head->lanes[0].control)) cpu->lost_enter++;
    return;
  }
  if (is_stale(process, thread)) forget_past(process, thread);
  if (is_inside_a_call(thread)) __sync_fetch_and_add(&process->head->directory.entered_twice, 1);
  if (child && number == NR_GETTID && is_cookie_of_own_calls(child, regs->di)) {
    child->state->is_ours = regs->si != 0;
    thread->pending = PENDING_OURS;
    return;
  }
  if (!child && number == NR_GETTID && is_cookie_of(process, regs->di)) {
    __u64 packed = regs->si;
    thread->lane = (__u32)(packed & 0xff);
    thread->token = packed;
    thread->pending = PENDING_OURS;
    WRITE_ONCE(process->head->directory.is_alone, task->signal->nr_threads == 1 && task->seccomp.mode == 0);
    __sync_fetch_and_add(&process->head->directory.canaries_entered, 1);
    return;
  }
  if (!child && number == NR_GETTID) refuse_second_cookie(regs->di);
  if (child && child->state->is_ours) {
    thread->pending = PENDING_IGNORED;
    return;
  }
  __u64 control;
  __u32 lane = current_lane(process, thread, &control);
  __u64 index = syscall_index(task, number);
  bool resumes = false;
  bool ignored = thread->pending == PENDING_RESUMABLE && is_restart_syscall(index);
  if (thread->pending == PENDING_UNRESOLVED) {
    resumes = is_restart_syscall(index);
    resolve_plain_restart(process, child, thread, control, lane);
  }
  thread->control = control;
  thread->entered_lane = lane;
  thread->pending = PENDING_INSIDE;
  if (!control) return;

  // restart_syscall is the kernel's way to resume the call that was interrupted: one call, two entries.
  __u32 slot = ignored ? SYSCOST_NOT_SELECTED : resumes ? thread->slot : plain_slot_of(process, child, index);
  if (with_details && !resumes && slot < SYSCOST_SLOTS) {
    slot = detailed_slot_of(&process->head->directory, regs, index, slot, thread);
  }
  thread->slot = slot;
  if (slot == SYSCOST_NOT_SELECTED) {
    thread->pending = PENDING_IGNORED;
    return;
  }
  if (slot == SYSCOST_NO_SLOT) {
    cpu->lost_enter++;
    thread->pending = PENDING_IGNORED;
    return;
  }
  struct count_target target;
  if (!find_count_target(process, child, control, lane, slot, &target)) {
    cpu->lost_enter++;
    thread->pending = PENDING_IGNORED;
    return;
  }
  MARK(child, &target, slot, dirty_enter);
  add_one(child, &target.cell->entries);
  if (never_returns(index)) {
    add_one(child, &target.cell->no_return);
    thread->pending = PENDING_NONE;
    return;
  }
  thread->enter_ns = bpf_ktime_get_ns();
}
