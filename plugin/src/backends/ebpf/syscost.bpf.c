// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Counts the syscalls of measured processes, exactly, by segment.
//
// Three programs see what the kernel does with a syscall: sys_enter, sys_exit and, because an interrupted call's
// fate is only known when the signal is delivered, signal_deliver. They are attached once, for however many processes:
// each has made itself known (enrolment.bpf.h) and has memory of its own, found by its id. What a call is charged to is
// decided by one word in that memory, its lane's control (shared.h): the measured process starts a new segment by
// storing to it, without a syscall.
//
// A call belongs to the segment it entered. Most calls end in the segment they began in and are counted in a cell; one
// that crosses a boundary becomes a log record, and the process, which knows its windows, decides what it was. What
// cannot be recorded is counted as lost.
//
// What the events really say, and the rules below, were established by experiment: docs/backends.md. For children
// (children.bpf.h) they are the same, in programs of their own that are loaded where children are asked for; `child` is
// null for the process's own threads.
#include "enrolment.bpf.h"
#include "place.bpf.h"
#include "state.bpf.h"
#include "syscall_numbers.bpf.h"

#define SA_RESTART 0x10000000ULL
#define EINTR 4
#define ERESTARTSYS 512  // include/linux/errno.h: what a call returns when a signal ended it
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// ---- sys_enter ------------------------------------------------------------------------------------------------------

// The call that waits for its fate is starting again, without a handler in between.
static __always_inline void resolve_plain_restart(const struct process* process, const struct child* child,
                                                  struct thread_state* thread, __u64 control, __u32 lane) {
  thread->pending = PENDING_NONE;
  if (thread->control == control) {
    struct place place;
    if (find_place(process, child, control, thread->entered_lane, thread->slot, &place)) {
      add_one(child, &place.cell->restarts_plain);
    }
  } else if (thread->control && control) {
    log_crossing(process, thread, control, lane, SYSCOST_OUTCOME_RESTART, thread->latency_ns == 0, 0);
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
    __sync_fetch_and_add(&process->head->directory.canaries_entered, 1);
    return;
  }
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
  struct place place;
  if (!find_place(process, child, control, lane, slot, &place)) {
    cpu->lost_enter++;
    thread->pending = PENDING_IGNORED;
    return;
  }
  MARK(child, &place, slot, dirty_enter);
  add_one(child, &place.cell->entries);
  if (never_returns(index)) {
    add_one(child, &place.cell->no_return);
    thread->pending = PENDING_NONE;
    return;
  }
  thread->enter_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sys_enter")
int on_sys_enter(__u64* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct process process;
  if (!find_current(task, &process)) {
    if ((long)ctx[1] != NR_GETTID || !enrol(task, (struct pt_regs*)ctx[0], &process)) return 0;
  }
  struct syscost_cpu* cpu = this_cpu(&process);
  if (!cpu) return 0;
  begin_program(&cpu->enter_sequence);
  handle_enter(&process, 0, task, (struct pt_regs*)ctx[0], (long)ctx[1], cpu);
  end_program(&cpu->enter_sequence);
  return 0;
}

SEC("?tp_btf/sys_enter")
int on_child_enter(__u64* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct process process;
  struct child child;
  if (!find_child(task, &child, &process)) return 0;
  struct syscost_cpu* cpu = cpu_of_children(child.memory);
  if (!cpu) return 0;
  begin_program(&cpu->enter_sequence);
  handle_enter(&process, &child, task, (struct pt_regs*)ctx[0], (long)ctx[1], cpu);
  end_program(&cpu->enter_sequence);
  return 0;
}

// ---- sys_exit -------------------------------------------------------------------------------------------------------

static __always_inline bool is_restart_code(long result) {
  return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
         result == -ERESTART_RESTARTBLOCK;
}

// An exit whose enter we did not see. `first` = nothing was seen of this thread since we were
// attached.
static __always_inline void handle_unpaired(const struct process* process, const struct child* child,
                                            struct task_struct* task, struct pt_regs* regs, long result,
                                            struct thread_state* thread, bool first, struct syscost_cpu* cpu) {
  __u64 index = syscall_index(task, (long)(int)regs->orig_ax);
  // A newborn thread's first event is its parent's clone, returning 0 in the child.
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
  struct place place;
  if (!find_place(process, child, control, lane, slot, &place) || slot == SYSCOST_NO_SLOT || first == filtered) {
    // Either no room, or an exit that has two explanations: a thread never seen before under a seccomp filter, or a
    // seen one without a filter (a tracer skipped its call).
    cpu->lost_exit++;
    return;
  }
  MARK(child, &place, slot, dirty_exit);
  if (first) {
    add_one(child, &place.cell->carried_in);  // blocked since before we were attached
  } else {
    add_one(child, &place.cell->denied);
    count_error(process, child, &place, slot, result, cpu);
  }
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
    // What the thread entered meanwhile is as unknown as the past of a thread never seen.
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
    struct place place;
    if (!find_place(process, child, control, lane, slot, &place) || slot == SYSCOST_NO_SLOT) {
      cpu->lost_exit++;
      return;
    }
    MARK(child, &place, slot, dirty_exit);
    add_one(child, &place.cell->carried_in);
    return;
  }

  __u64 latency_ns = bpf_ktime_get_ns() - thread->enter_ns;
  __u32 slot = thread->slot;
  // After rt_sigreturn the result is the interrupted code's register, not a result.
  bool sigreturn = result < 0 && (int)regs->orig_ax == -1 && is_sigreturn_slot(process, child, slot);
  bool unresolved = !sigreturn && is_restart_code(result);
  if (entered != control) {
    if (unresolved) {
      thread->pending = PENDING_UNRESOLVED;
      thread->restart_code = (__u16)-result;
      thread->latency_ns = latency_ns ? latency_ns : 1;
    } else if (control) {
      bool failed = !sigreturn && result < 0 && result >= -MAX_ERRNO;
      thread->latency_ns = latency_ns;
      log_crossing(process, thread, control, lane, SYSCOST_OUTCOME_CALL, false, failed ? (__s32)-result : 0);
    }
    return;
  }
  struct place place;
  find_bank(process, child, control, thread->entered_lane, &place);
  if (with_details && place.bank && result >= 0) slot = slot_by_status(process, place.bank, place.shard, regs, thread);
  if (!find_cell(child, slot, &place)) {
    cpu->lost_exit++;
    return;
  }
  MARK(child, &place, slot, dirty_exit);
  count_latency(child, place.cell, latency_ns);
  if (unresolved) {
    thread->pending = PENDING_UNRESOLVED;
    thread->restart_code = (__u16)-result;
    thread->latency_ns = 0;  // already counted
    return;
  }
  add_one(child, &place.cell->calls);
  if (!sigreturn) count_error(process, child, &place, slot, result, cpu);
}

SEC("tp_btf/sys_exit")
int on_sys_exit(__u64* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct process process;
  if (!find_current(task, &process)) return 0;
  struct syscost_cpu* cpu = this_cpu(&process);
  if (!cpu) return 0;
  begin_program(&cpu->exit_sequence);
  handle_exit(&process, 0, task, (struct pt_regs*)ctx[0], (long)ctx[1], cpu);
  end_program(&cpu->exit_sequence);
  return 0;
}

SEC("?tp_btf/sys_exit")
int on_child_exit(__u64* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct process process;
  struct child child;
  if (!find_child(task, &child, &process)) return 0;
  struct syscost_cpu* cpu = cpu_of_children(child.memory);
  if (!cpu) return 0;
  begin_program(&cpu->exit_sequence);
  handle_exit(&process, &child, task, (struct pt_regs*)ctx[0], (long)ctx[1], cpu);
  end_program(&cpu->exit_sequence);
  return 0;
}

// ---- signal_deliver -------------------------------------------------------------------------------------------------

static __always_inline void handle_deliver(const struct process* process, const struct child* child,
                                           struct task_struct* task, struct k_sigaction* action,
                                           struct syscost_cpu* cpu) {
  struct thread_state* thread = child ? &child->state->thread : bpf_task_storage_get(&threads, task, 0, 0);
  if (!thread || thread->pending != PENDING_UNRESOLVED || is_stale(process, thread)) return;
  // Only a handler decides; an ignored, stopping or fatal signal leaves the call to restart or to die.
  __u64 handler = (__u64)action->sa.sa_handler;
  if (handler <= 1) return;
  __u16 code = thread->restart_code;
  bool restarts = code == ERESTARTNOINTR || (code == ERESTARTSYS && (action->sa.sa_flags & SA_RESTART));
  thread->pending = PENDING_NONE;
  if (!thread->control) return;
  __u64 control;
  __u32 lane = current_lane(process, thread, &control);
  if (thread->control != control) {
    if (control) {
      log_crossing(process, thread, control, lane, restarts ? SYSCOST_OUTCOME_RESTART : SYSCOST_OUTCOME_CALL,
                   thread->latency_ns == 0, restarts ? 0 : EINTR);
    }
    return;
  }
  struct place place;
  if (!find_place(process, child, control, thread->entered_lane, thread->slot, &place)) {
    cpu->lost_deliver++;
    return;
  }
  MARK(child, &place, thread->slot, dirty_deliver);
  add_one(child, restarts ? &place.cell->restarts_handler : &place.cell->interrupted);
}

SEC("tp_btf/signal_deliver")
int on_signal_deliver(__u64* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct process process;
  if (!find_current(task, &process)) return 0;
  struct syscost_cpu* cpu = this_cpu(&process);
  if (!cpu) return 0;
  begin_program(&cpu->deliver_sequence);
  handle_deliver(&process, 0, task, (struct k_sigaction*)ctx[2], cpu);
  end_program(&cpu->deliver_sequence);
  return 0;
}

SEC("?tp_btf/signal_deliver")
int on_child_deliver(__u64* ctx) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct process process;
  struct child child;
  if (!find_child(task, &child, &process)) return 0;
  struct syscost_cpu* cpu = cpu_of_children(child.memory);
  if (!cpu) return 0;
  begin_program(&cpu->deliver_sequence);
  handle_deliver(&process, &child, task, (struct k_sigaction*)ctx[2], cpu);
  end_program(&cpu->deliver_sequence);
  return 0;
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
    if (control) log_crossing(process, thread, control, 0, SYSCOST_OUTCOME_NO_RETURN, !has_latency, 0);
    return;
  }
  struct place place;
  if (!find_place(process, child, control, 0, thread->slot, &place)) {
    cpu->lost_deliver++;
    return;
  }
  MARK(child, &place, thread->slot, dirty_deliver);
  add_one(child, &place.cell->no_return);
}

SEC("?tp_btf/sched_process_exit")
int on_child_end(__u64* ctx) {
  struct process process;
  struct child child;
  if (!find_child(bpf_get_current_task_btf(), &child, &process)) return 0;
  struct syscost_cpu* cpu = cpu_of_children(child.memory);
  if (!cpu) return 0;
  begin_program(&cpu->deliver_sequence);
  handle_end(&process, &child, cpu);
  end_program(&cpu->deliver_sequence);
  return 0;
}
