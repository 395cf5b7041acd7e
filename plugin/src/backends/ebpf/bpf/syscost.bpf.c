// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Counts the syscalls of measured processes, exactly, by segment.
//
// Three programs see a syscall: sys_enter, sys_exit and signal_deliver. The third is there because the result of an
// interrupted call is known only when the signal is delivered. Each program exists twice, for the two ways to attach it
// (attachment.h), and one of the two is loaded. They are attached once for all processes. Each process has enrolled
// itself (enrolment.bpf.h) and has memory of its own, which the programs find by its id. One word in that memory, the
// control of the lane (shared.h), decides which segment a call belongs to. The measured process starts a new segment by
// a store to that word, without a syscall.
//
// A call belongs to the segment it entered. Most calls end in the segment they began in and are counted in a cell; one
// that crosses a boundary becomes a log record, and the process, which knows its windows, decides what it was. What
// cannot be recorded is counted as lost.
//
// The meaning of the events and the rules below were found by experiment: docs/backends.md. They are the same for
// children, which have programs of their own; `child` is null for the process's own threads. Extras add groups of
// further programs (extras/programs.bpf.h), which are loaded for a process that asks for them.
#include "calls.bpf.h"

#include "../../../extras/programs.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// ---- the process's own threads --------------------------------------------------------------------------------------

static __always_inline int see_enter(struct task_struct* task, struct pt_regs* regs, long number) {
  struct process process;
  if (!find_current(task, &process)) {
    if (number != NR_GETTID || !enrol(task, regs, &process)) return 0;
  }
  struct syscost_cpu* cpu = this_cpu(&process);
  if (!cpu) return 0;
  begin_program(&cpu->enter_sequence);
  handle_enter(&process, 0, task, regs, number, cpu);
  end_program(&cpu->enter_sequence);
  return 0;
}

static __always_inline int see_exit(struct task_struct* task, struct pt_regs* regs, long result) {
  struct process process;
  if (!find_current(task, &process)) return 0;
  struct syscost_cpu* cpu = this_cpu(&process);
  if (!cpu) return 0;
  begin_program(&cpu->exit_sequence);
  handle_exit(&process, 0, task, regs, result, cpu);
  end_program(&cpu->exit_sequence);
  return 0;
}

static __always_inline int see_deliver(struct task_struct* task, __u64 handler, __u64 flags) {
  struct process process;
  if (!find_current(task, &process)) return 0;
  struct syscost_cpu* cpu = this_cpu(&process);
  if (!cpu) return 0;
  begin_program(&cpu->deliver_sequence);
  handle_deliver(&process, 0, task, handler, flags, cpu);
  end_program(&cpu->deliver_sequence);
  return 0;
}

// ---- attached to raw tracepoints ------------------------------------------------------------------------------------

SEC("?tp_btf/sys_enter")
int on_sys_enter(__u64* ctx) {
  return see_enter(bpf_get_current_task_btf(), (struct pt_regs*)ctx[0], (long)ctx[1]);
}

SEC("?tp_btf/sys_exit")
int on_sys_exit(__u64* ctx) {
  return see_exit(bpf_get_current_task_btf(), (struct pt_regs*)ctx[0], (long)ctx[1]);
}

SEC("?tp_btf/signal_deliver")
int on_signal_deliver(__u64* ctx) {
  struct k_sigaction* action = (struct k_sigaction*)ctx[2];
  return see_deliver(bpf_get_current_task_btf(), (__u64)action->sa.sa_handler, action->sa.sa_flags);
}

// ---- attached to perf events ----------------------------------------------------------------------------------------
// All of them return 1: the kernel shows an event to other tools only when no program of it returns 0.

SEC("?tp/raw_syscalls/sys_enter")
int event_enter(struct trace_event_raw_sys_enter* event) {
  struct task_struct* task = bpf_get_current_task_btf();
  see_enter(task, regs_of(task), event->id);
  return 1;
}

SEC("?tp/raw_syscalls/sys_exit")
int event_exit(struct trace_event_raw_sys_exit* event) {
  struct task_struct* task = bpf_get_current_task_btf();
  see_exit(task, regs_of(task), event->ret);
  return 1;
}

SEC("?tp/signal/signal_deliver")
int event_signal(struct trace_event_raw_signal_deliver* event) {
  see_deliver(bpf_get_current_task_btf(), event->sa_handler, event->sa_flags);
  return 1;
}
