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
// children (children.bpf.h), which have programs of their own. Those are loaded only with --syscost_children. `child`
// is null for the process's own threads.
#include "calls.bpf.h"

#include "../../../extras/scheduler/bpf/scheduler.bpf.h"

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

// ---- its children ---------------------------------------------------------------------------------------------------

static __always_inline int see_child_enter(struct task_struct* task, struct pt_regs* regs, long number) {
  struct process process;
  struct child child;
  if (!find_child(task, &child, &process)) return 0;
  struct syscost_cpu* cpu = cpu_of_children(child.memory);
  if (!cpu) return 0;
  begin_program(&cpu->enter_sequence);
  handle_enter(&process, &child, task, regs, number, cpu);
  end_program(&cpu->enter_sequence);
  return 0;
}

static __always_inline int see_child_exit(struct task_struct* task, struct pt_regs* regs, long result) {
  struct process process;
  struct child child;
  if (!find_child(task, &child, &process)) return 0;
  struct syscost_cpu* cpu = cpu_of_children(child.memory);
  if (!cpu) return 0;
  begin_program(&cpu->exit_sequence);
  handle_exit(&process, &child, task, regs, result, cpu);
  end_program(&cpu->exit_sequence);
  return 0;
}

static __always_inline int see_child_deliver(struct task_struct* task, __u64 handler, __u64 flags) {
  struct process process;
  struct child child;
  if (!find_child(task, &child, &process)) return 0;
  struct syscost_cpu* cpu = cpu_of_children(child.memory);
  if (!cpu) return 0;
  begin_program(&cpu->deliver_sequence);
  handle_deliver(&process, &child, task, handler, flags, cpu);
  end_program(&cpu->deliver_sequence);
  return 0;
}

static __always_inline int see_child_end(struct task_struct* task) {
  struct process process;
  struct child child;
  if (!find_child(task, &child, &process)) return 0;
  struct syscost_cpu* cpu = cpu_of_children(child.memory);
  if (!cpu) return 0;
  begin_program(&cpu->deliver_sequence);
  handle_end(&process, &child, cpu);
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

SEC("?tp_btf/sys_enter")
int on_child_enter(__u64* ctx) {
  return see_child_enter(bpf_get_current_task_btf(), (struct pt_regs*)ctx[0], (long)ctx[1]);
}

SEC("?tp_btf/sys_exit")
int on_child_exit(__u64* ctx) {
  return see_child_exit(bpf_get_current_task_btf(), (struct pt_regs*)ctx[0], (long)ctx[1]);
}

SEC("?tp_btf/signal_deliver")
int on_child_deliver(__u64* ctx) {
  struct k_sigaction* action = (struct k_sigaction*)ctx[2];
  return see_child_deliver(bpf_get_current_task_btf(), (__u64)action->sa.sa_handler, action->sa.sa_flags);
}

SEC("?tp_btf/sched_process_exec")
int on_child_exec(__u64* ctx) {
  handle_exec(bpf_get_current_task_btf());
  return 0;
}

SEC("?tp_btf/sched_process_exit")
int on_child_end(__u64* ctx) {
  return see_child_end(bpf_get_current_task_btf());
}

// Attached this way on every kernel, because the perf event does not say which task was made.
SEC("?tp_btf/sched_process_fork")
int on_fork(__u64* ctx) {
  handle_birth(bpf_get_current_task_btf(), (struct task_struct*)ctx[1]);
  return 0;
}

// The scheduler's. Interrupts are off while they run, so no kernel keeps one of them from running.

SEC("?tp_btf/sched_switch")
int on_switch(__u64* ctx) {
  struct task_struct* left = (struct task_struct*)ctx[1];
  __u64 at_ns = bpf_ktime_get_ns();
  see_switch(left, why_it_left(left, ctx[0] & 1), at_ns);
  see_switch((struct task_struct*)ctx[2], SYSCOST_THREAD_RUNS, at_ns);
  return 0;
}

SEC("?tp_btf/sched_waking")
int on_waking(__u64* ctx) {
  see_wake((struct task_struct*)ctx[0], SYSCOST_THREAD_WOKEN);
  return 0;
}

SEC("?tp_btf/sched_wakeup_new")
int on_creation(__u64* ctx) {
  see_wake((struct task_struct*)ctx[0], SYSCOST_THREAD_CREATED);
  return 0;
}

// These three are not kept from being interrupted. If the kernel skips one of them, a sender may stay unknown: the
// waker is then an interrupt.

SEC("?tp_btf/netif_rx")
int on_packet_sent(__u64* ctx) {
  struct task_struct* current = bpf_get_current_task_btf();
  if (current_context(current) == CONTEXT_THREAD) see_packet_sent(ctx[0], current);
  return 0;
}

SEC("?tp_btf/netif_receive_skb")
int on_packet(__u64* ctx) {
  see_packet_received(ctx[0]);
  return 0;
}

SEC("?tp_btf/napi_poll")
int on_packets_end(__u64* ctx) {
  see_packets_end();
  return 0;
}

// ---- attached to perf events ----------------------------------------------------------------------------------------
// All of them return 1: the kernel shows an event to other tools only when no program of it returns 0.

static __always_inline struct pt_regs* regs_of(struct task_struct* task) {
  return (struct pt_regs*)bpf_task_pt_regs(task);
}

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

SEC("?tp/raw_syscalls/sys_enter")
int event_ch_enter(struct trace_event_raw_sys_enter* event) {
  struct task_struct* task = bpf_get_current_task_btf();
  see_child_enter(task, regs_of(task), event->id);
  return 1;
}

SEC("?tp/raw_syscalls/sys_exit")
int event_ch_exit(struct trace_event_raw_sys_exit* event) {
  struct task_struct* task = bpf_get_current_task_btf();
  see_child_exit(task, regs_of(task), event->ret);
  return 1;
}

SEC("?tp/signal/signal_deliver")
int event_ch_signal(struct trace_event_raw_signal_deliver* event) {
  see_child_deliver(bpf_get_current_task_btf(), event->sa_handler, event->sa_flags);
  return 1;
}

SEC("?tp/sched/sched_process_exec")
int event_ch_exec(void* event) {
  handle_exec(bpf_get_current_task_btf());
  return 1;
}

SEC("?tp/sched/sched_process_exit")
int event_ch_end(void* event) {
  see_child_end(bpf_get_current_task_btf());
  return 1;
}
