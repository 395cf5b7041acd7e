// SPDX-License-Identifier: MIT OR GPL-2.0
//
// The programs for children: they do for a child what those of syscost.bpf.c do for the process.
#pragma once

#include "../../../backends/ebpf/bpf/calls.bpf.h"

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

// ---- attached to perf events ----------------------------------------------------------------------------------------
// All of them return 1, as those of syscost.bpf.c.

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
