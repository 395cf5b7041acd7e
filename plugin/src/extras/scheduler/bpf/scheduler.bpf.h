// SPDX-License-Identifier: MIT OR GPL-2.0
//
// When each thread of the process ran, waited for a CPU, or was blocked, and what woke it (--syscost_sched).
//
// The scheduler's tracepoints fire for every thread of the host. The programs keep an event only for a thread of the
// process, and only while a window is open. The events of a window stand in the order in which they were begun; when
// there is no room left, they are only numbered, so that the process knows how many are missing.
//
// A wake-up counts as an act of the current thread only if that thread was not interrupted: a timer's handler runs on
// whatever thread it finds. The kernel's preempt_count says so. It is a variable of each CPU, and programs have no name
// for it on kernels without CONFIG_KALLSYMS_ALL. But they know the address of another variable of the same CPU, its run
// queue, and the kernel's type information has the distance between the two. A third variable, `current_task`, must
// then hold the current thread: if it does not, the waker is unknown. A packet over loopback is received in the middle
// of the sender's call (packets.bpf.h).
#pragma once

#include "../../../backends/ebpf/bpf/state.bpf.h"
#include "../../../backends/ebpf/bpf/syscall_numbers.bpf.h"
// Above first: libbpf's headers use the types.
#include <bpf/bpf_core_read.h>

#include "packets.bpf.h"
#include "scheduler_shared.h"

// Set before loading.
const volatile __u64 scheduler_room = 0;
// Where a CPU's own variables lie, counted from its run queue; `has_preempt_count` is false if that is unknown.
const volatile bool has_preempt_count = false;
const volatile __s64 preempt_count_from_queue = 0;
const volatile __s64 current_task_from_queue = 0;

// One process's, which has this pair of programs for itself.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);  // 1 + scheduler_room, set before loading where the scheduler's events are asked for
  __type(key, __u32);
  __type(value, union syscost_scheduler_block);
} scheduler_events SEC(".maps");

#define TASK_DEAD 0x80         // include/linux/sched.h
#define PF_KTHREAD 0x00200000  // include/linux/sched.h
// include/linux/preempt.h
#define SOFTIRQ_OFFSET 0x00000100
#define HARDIRQ_MASK 0x000f0000
#define NMI_MASK 0x00f00000

// The thread's number in the namespace that it lives in; 0 when it has ended.
static __always_inline __u32 own_thread_id(struct task_struct* task) {
  // A copy of the pointer is a number to the verifier. To a pointer, that of Linux 6.1 adds nothing but constants.
  const struct pid* pid = BPF_CORE_READ(task, thread_pid);
  if (!pid) return 0;
  __u32 number = 0;
  const char* entry = (const char*)pid + bpf_core_field_offset(struct pid, numbers) +
                      (__u64)BPF_CORE_READ(pid, level) * bpf_core_type_size(struct upid) +
                      bpf_core_field_offset(struct upid, nr);
  bpf_probe_read_kernel(&number, sizeof number, entry);
  return number;
}

static __always_inline __u32 syscall_of_thread(struct task_struct* task) {
  struct pt_regs* regs = (struct pt_regs*)bpf_task_pt_regs(task);
  // -1: it came into the kernel by a fault or an interrupt.
  int number = (int)regs->orig_ax;
  if (number == -1) return SYSCOST_NO_SYSCALL;
  __u64 index = syscall_index(task, number);
  if (index >= SYSCOST_INDEXES) return SYSCOST_SHORT_UNKNOWN;
  return SYSCOST_SHORT_SYSCALL((__u32)(index / SYSCOST_NUMBERS), (__u32)(index % SYSCOST_NUMBERS));
}

// Null if there is no room, or if nothing is armed. `*sequence` goes into the event last.
static __always_inline struct syscost_scheduler_event* new_event(const struct process* process, __u64* sequence) {
  if (!READ_ONCE(process->head->lanes[0].control)) return 0;
  __u32 key = 0;
  union syscost_scheduler_block* first = bpf_map_lookup_elem(&scheduler_events, &key);
  if (!first) return 0;
  __u64 index = __sync_fetch_and_add(&first->head.produced, 1);
  __u64 place = index - READ_ONCE(first->head.consumed);
  if (place >= scheduler_room) return 0;
  key = 1 + (__u32)place;
  union syscost_scheduler_block* block = bpf_map_lookup_elem(&scheduler_events, &key);
  *sequence = index + 1;
  return block ? &block->event : 0;
}

static __always_inline void describe(struct syscost_scheduler_event* event, struct task_struct* task, __u8 kind,
                                     __u64 at_ns) {
  event->at_ns = at_ns;
  event->syscall = syscall_of_thread(task);
  event->thread = (__u32)task->pid;
  event->thread_id = own_thread_id(task);
  event->kind = kind;
  BPF_CORE_READ_INTO(&event->name, task, comm);
}

static __always_inline void finish_event(struct syscost_scheduler_event* event, __u64 sequence) {
  barrier();
  WRITE_ONCE(event->sequence, sequence);
}

// ---- a CPU goes from one thread to another --------------------------------------------------------------------------

static __always_inline void see_switch(struct task_struct* task, __u8 kind, __u64 at_ns) {
  struct process process;
  if (!find_current(task, &process)) return;
  __u64 sequence = 0;
  struct syscost_scheduler_event* event = new_event(&process, &sequence);
  if (!event) return;
  describe(event, task, kind, at_ns);
  event->waker = 0;
  event->waker_id = 0;
  event->waker_kind = SYSCOST_WAKER_UNKNOWN;
  event->waker_syscall = SYSCOST_NO_SYSCALL;
  finish_event(event, sequence);
}

// A thread that was preempted inside the kernel may have announced that it will block; it is not blocked yet.
static __always_inline __u8 why_it_left(const struct task_struct* task, bool is_preempted) {
  unsigned int state = task->__state;
  if (is_preempted || !state) return SYSCOST_THREAD_PREEMPTED;
  return state & TASK_DEAD ? SYSCOST_THREAD_ENDS : SYSCOST_THREAD_BLOCKS;
}

// ---- a thread is woken ----------------------------------------------------------------------------------------------

enum context { CONTEXT_UNKNOWN, CONTEXT_THREAD, CONTEXT_INTERRUPT };

static __always_inline enum context current_context(struct task_struct* current) {
  if (!has_preempt_count) return CONTEXT_UNKNOWN;
  __u64 queue = (__u64)BPF_CORE_READ(current, se.cfs_rq, rq);
  __u64 owner = 0;
  __u32 count = 0;
  if (bpf_probe_read_kernel(&owner, sizeof owner, (void*)(queue + current_task_from_queue)) ||
      owner != bpf_get_current_task() ||
      bpf_probe_read_kernel(&count, sizeof count, (void*)(queue + preempt_count_from_queue))) {
    return CONTEXT_UNKNOWN;
  }
  if (count & (NMI_MASK | HARDIRQ_MASK)) return CONTEXT_INTERRUPT;
  if (count & SOFTIRQ_OFFSET) return receives_packet_of(current) ? CONTEXT_THREAD : CONTEXT_INTERRUPT;
  return CONTEXT_THREAD;
}

static __always_inline __u8 kind_of_waker(struct task_struct* current, const struct task_struct* woken) {
  if (current->pid == 0) return SYSCOST_WAKER_INTERRUPT;  // an idle CPU does nothing itself
  switch (current_context(current)) {
    case CONTEXT_INTERRUPT:
      return SYSCOST_WAKER_INTERRUPT;
    case CONTEXT_THREAD:
      if (current->flags & PF_KTHREAD) return SYSCOST_WAKER_KERNEL_THREAD;
      return current->tgid == woken->tgid ? SYSCOST_WAKER_THREAD : SYSCOST_WAKER_OTHER_PROCESS;
    default:
      return SYSCOST_WAKER_UNKNOWN;
  }
}

static __always_inline void see_wake(struct task_struct* woken, __u8 kind) {
  struct process process;
  if (!find_current(woken, &process)) return;
  __u64 sequence = 0;
  struct syscost_scheduler_event* event = new_event(&process, &sequence);
  if (!event) return;
  struct task_struct* current = bpf_get_current_task_btf();
  describe(event, woken, kind, bpf_ktime_get_ns());
  event->waker_kind = kind_of_waker(current, woken);
  bool is_ours = event->waker_kind == SYSCOST_WAKER_THREAD;
  event->waker = is_ours ? (__u32)current->pid : 0;
  event->waker_id = is_ours ? own_thread_id(current) : 0;
  event->waker_syscall = is_ours ? syscall_of_thread(current) : SYSCOST_NO_SYSCALL;
  finish_event(event, sequence);
}

// ---- the programs ---------------------------------------------------------------------------------------------------

// Interrupts are off while they run, so no kernel keeps one of them from running.

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
