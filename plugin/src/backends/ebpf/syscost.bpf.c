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
#include "ends.bpf.h"
#include "enter.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// ---- the process's own threads --------------------------------------------------------------------------------------

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

// ---- its children ---------------------------------------------------------------------------------------------------

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
