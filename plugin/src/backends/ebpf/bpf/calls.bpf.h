// SPDX-License-Identifier: MIT OR GPL-2.0
//
// A call from its entry to its end. sys_enter decides once which segment and cell the call belongs to. A call ends in
// one of three ways. It returns (sys_exit). It is interrupted, and its fate is known when the signal is delivered
// (signal_deliver). Or its thread ends inside it. `child` is null for the process's own threads.
#pragma once

#include "bytes.bpf.h"
#include "enrolment.bpf.h"
#include "state.bpf.h"
#include "syscall_numbers.bpf.h"
#include "target.bpf.h"

#define SA_RESTART 0x10000000ULL
#define EINTR 4
#define ERESTARTSYS 512  // include/linux/errno.h: what a call returns when a signal ended it
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

// ---- sys_enter
// --------------------------------------------------------------------------------------------------------

// The interrupted call starts again. No handler ran in between.
static __always_inline void resolve_plain_restart(const struct process* process, const struct child* child,
                                                  struct thread_state* thread, __u64 control, __u32 lane) {
  thread->pending = PENDING_NONE;
  if (thread->control == control) {
    struct count_target target;
    if (find_count_target(process, child, control, thread->entered_lane, thread->slot, &target)) {
      add_one(child, &target.cell->restarts_plain);
    }
  } else if (thread->control && control) {
    log_crossing(process, thread, control, lane, SYSCOST_OUTCOME_RESTART, thread->latency_ns == 0, 0, 0, 0);
  }
}

// A thread that enters a call has left the one before, and the program of exits has seen that. There are two
// exceptions: the kernel skipped the run of that program, or this program is attached twice and sees the call for the
// second time.
static __always_inline bool is_inside_a_call(const struct thread_state* thread) {
  return thread->pending == PENDING_INSIDE || thread->pending == PENDING_OURS || thread->pending == PENDING_IGNORED;
}

// Which threads make the entries of the process's windows.
static __always_inline void count_by_thread(const struct process* process, const struct task_struct* task,
                                            const struct thread_state* thread, __u64 control, __u32 number,
                                            struct syscost_cell* cell) {
  struct syscost_lane* lane = &AT(process->head->lanes, number);
  __u32 bank = (__u32)SYSCOST_CONTROL_BANK(control);
  if (AT(lane->opener, bank) == thread->token) return;
  if (task->start_time >= AT(lane->opened_ns, bank)) {
    cell->started++;
  } else {
    cell->older++;
  }
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
    WRITE_ONCE(process->head->directory.registered_ns, bpf_ktime_get_ns());
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
  if (!child) count_by_thread(process, task, thread, control, lane, target.cell);
  if (never_returns(index)) {
    add_one(child, &target.cell->no_return);
    thread->pending = PENDING_NONE;
    return;
  }
  note_asked_bytes(task, regs, index, thread);
  thread->enter_ns = bpf_ktime_get_ns();
}

// ---- sys_exit -------------------------------------------------------------------------------------------------------

static __always_inline bool is_restart_code(long result) {
  return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
         result == -ERESTART_RESTARTBLOCK;
}

// An exit, and no program saw its enter. `first`: no program has seen this thread since we were attached.
static __always_inline void handle_unpaired(const struct process* process, const struct child* child,
                                            struct task_struct* task, struct pt_regs* regs, long result,
                                            struct thread_state* thread, bool first, struct syscost_cpu* cpu) {
  __u64 index = syscall_index(task, (long)(int)regs->orig_ax);
  // The first event of a new thread is its parent's clone, which returns 0 in the child.
  if (first && result == 0 && makes_a_child(index)) return;
  __u64 control;
  __u32 lane = current_lane(process, thread, &control);
  if (!control) return;
  bool filtered = task->seccomp.mode != 0;
  __u32 slot = plain_slot_of(process, child, index);
  if (slot == SYSCOST_NOT_SELECTED) return;
  if (with_details && slot < SYSCOST_SLOTS) {
    slot = detailed_slot_of(&process->head->directory, regs, index, slot, thread);
  }
  struct count_target target;
  if (!find_count_target(process, child, control, lane, slot, &target) || slot == SYSCOST_NO_SLOT ||
      first == filtered) {
    // There is no room, or the exit has two explanations: an unknown thread is under a seccomp filter, or a known
    // thread has none (a tracer skipped its call).
    cpu->lost_exit++;
    return;
  }
  MARK(child, &target, slot, dirty_exit);
  if (first) {
    add_one(child, &target.cell->carried_in);  // blocked since before we were attached
  } else {
    add_one(child, &target.cell->denied);
    count_error(process, child, &target, slot, result, cpu);
  }
}

// The next action of the thread shows whether the call restarts: a handler gets the signal, or the thread makes a call.
static __always_inline void leave_unresolved(const struct process* process, struct thread_state* thread, long result,
                                             __u64 latency_ns) {
  thread->pending = PENDING_UNRESOLVED;
  thread->restart_code = (__u16)-result;
  thread->latency_ns = latency_ns;
  __sync_fetch_and_add(&process->head->directory.unresolved, 1);
}

static __always_inline void handle_exit(const struct process* process, const struct child* child,
                                        struct task_struct* task, struct pt_regs* regs, long result,
                                        struct syscost_cpu* cpu) {
  struct thread_state* thread = child ? &child->state->thread : bpf_task_storage_get(&threads, task, 0, 0);
  if (!thread) {
    thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!thread) {
      if (READ_ONCE(process->head->lanes[0].control)) cpu->lost_exit++;
      return;
    }
    forget_past(process, thread);
    handle_unpaired(process, child, task, regs, result, thread, true, cpu);
    return;
  }
  __u16 pending = thread->pending;
  thread->pending = PENDING_NONE;
  if (is_stale(process, thread)) {
    // The call that the thread entered meanwhile is unknown, as for a thread that no program has seen.
    forget_past(process, thread);
    handle_unpaired(process, child, task, regs, result, thread, true, cpu);
    return;
  }
  if (child && pending == PENDING_BIRTH) return;
  if (pending == PENDING_OURS) {
    if (child) return;
    __sync_fetch_and_add(&process->head->directory.canaries_returned, 1);
    return;
  }
  if (pending == PENDING_IGNORED) {
    if (result == -ERESTART_RESTARTBLOCK) thread->pending = PENDING_RESUMABLE;
    return;
  }
  if (pending != PENDING_INSIDE) {
    handle_unpaired(process, child, task, regs, result, thread, false, cpu);
    return;
  }
  __u64 entered = thread->control;
  __u64 control;
  __u32 lane = current_lane(process, thread, &control);
  if (!entered) {
    // Entered while nothing was armed.
    if (!control) return;
    __u64 index = syscall_index(task, (long)(int)regs->orig_ax);
    __u32 slot = plain_slot_of(process, child, index);
    if (slot == SYSCOST_NOT_SELECTED) return;
    if (with_details && slot < SYSCOST_SLOTS) {
      slot = detailed_slot_of(&process->head->directory, regs, index, slot, thread);
    }
    struct count_target target;
    if (!find_count_target(process, child, control, lane, slot, &target) || slot == SYSCOST_NO_SLOT) {
      cpu->lost_exit++;
      return;
    }
    MARK(child, &target, slot, dirty_exit);
    add_one(child, &target.cell->carried_in);
    return;
  }

  __u64 latency_ns = bpf_ktime_get_ns() - thread->enter_ns;
  if (!child && control && maps_memory(thread) && process->head->directory.notes_mapped) note_mapped_pages(task, cpu);
  __u32 slot = thread->slot;
  // After rt_sigreturn the result is the interrupted code's register, not a result.
  bool sigreturn = result < 0 && (int)regs->orig_ax == -1 && is_sigreturn_slot(process, child, slot);
  bool unresolved = !sigreturn && is_restart_code(result);
  if (entered != control) {
    if (unresolved) {
      leave_unresolved(process, thread, result, latency_ns ? latency_ns : 1);
    } else if (control) {
      bool failed = !sigreturn && result < 0 && result >= -MAX_ERRNO;
      struct byte_count bytes = bytes_of(thread, task, regs, result);
      thread->latency_ns = latency_ns;
      log_crossing(process, thread, control, lane, SYSCOST_OUTCOME_CALL, false, failed ? (__s32)-result : 0,
                   bytes.bytes, bytes.second);
    }
    return;
  }
  struct count_target target;
  find_bank(process, child, control, thread->entered_lane, &target);
  if (with_details && target.bank && result >= 0)
    slot = slot_by_status(process, target.bank, target.partition, regs, thread);
  if (!find_cell(child, slot, &target)) {
    cpu->lost_exit++;
    return;
  }
  MARK(child, &target, slot, dirty_exit);
  count_latency(child, target.cell, latency_ns);
  if (unresolved) {
    leave_unresolved(process, thread, result, 0);  // the latency is already counted
    return;
  }
  add_one(child, &target.cell->calls);
  if (thread->byte_source) count_bytes(child, target.cell, bytes_of(thread, task, regs, result));
  if (!sigreturn) count_error(process, child, &target, slot, result, cpu);
}

// ---- signal_deliver -------------------------------------------------------------------------------------------------

static __always_inline void handle_deliver(const struct process* process, const struct child* child,
                                           struct task_struct* task, __u64 handler, __u64 flags,
                                           struct syscost_cpu* cpu) {
  struct thread_state* thread = child ? &child->state->thread : bpf_task_storage_get(&threads, task, 0, 0);
  if (!thread || thread->pending != PENDING_UNRESOLVED || is_stale(process, thread)) return;
  // Only a handler decides; an ignored, stopping or fatal signal leaves the call to restart or to die.
  if (handler <= 1) return;
  __u16 code = thread->restart_code;
  bool restarts = code == ERESTARTNOINTR || (code == ERESTARTSYS && (flags & SA_RESTART));
  thread->pending = PENDING_NONE;
  if (!thread->control) return;
  __u64 control;
  __u32 lane = current_lane(process, thread, &control);
  if (thread->control != control) {
    if (control) {
      log_crossing(process, thread, control, lane, restarts ? SYSCOST_OUTCOME_RESTART : SYSCOST_OUTCOME_CALL,
                   thread->latency_ns == 0, restarts ? 0 : EINTR, 0, 0);
    }
    return;
  }
  struct count_target target;
  if (!find_count_target(process, child, control, thread->entered_lane, thread->slot, &target)) {
    cpu->lost_deliver++;
    return;
  }
  MARK(child, &target, thread->slot, dirty_deliver);
  add_one(child, restarts ? &target.cell->restarts_handler : &target.cell->interrupted);
}

// ---- the end of a child's thread ------------------------------------------------------------------------------------

// Killed inside a call, by a signal or because another thread of its process ended or executed a program.
static __always_inline void handle_end(const struct process* process, const struct child* child,
                                       struct syscost_cpu* cpu) {
  struct thread_state* thread = &child->state->thread;
  bool is_inside = thread->pending == PENDING_INSIDE || thread->pending == PENDING_UNRESOLVED;
  if (!is_inside || !thread->control || is_stale(process, thread)) return;
  __u64 control = READ_ONCE(process->head->lanes[0].control);
  bool has_latency = thread->pending == PENDING_UNRESOLVED && thread->latency_ns;
  thread->pending = PENDING_NONE;
  if (thread->control != control) {
    if (control) log_crossing(process, thread, control, 0, SYSCOST_OUTCOME_NO_RETURN, !has_latency, 0, 0, 0);
    return;
  }
  struct count_target target;
  if (!find_count_target(process, child, control, 0, thread->slot, &target)) {
    cpu->lost_deliver++;
    return;
  }
  MARK(child, &target, thread->slot, dirty_deliver);
  add_one(child, &target.cell->no_return);
}

static __always_inline struct pt_regs* regs_of(struct task_struct* task) {
  return (struct pt_regs*)bpf_task_pt_regs(task);
}
