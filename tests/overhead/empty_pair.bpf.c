// SPDX-License-Identifier: MIT OR GPL-2.0
//
// The least cost of an eBPF syscall tracer: one program at entry and one at exit that do nothing. The cost of our
// programs is compared with this. The second pair is the least cost of a tracer that times calls: each program reads
// the clock once.
#include <linux/bpf.h>
// Above first: libbpf's headers use the types.
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("raw_tp/sys_enter")
int empty_enter(void* ctx) {
  return 0;
}

SEC("raw_tp/sys_exit")
int empty_exit(void* ctx) {
  return 0;
}

// Never read. Writing it makes the compiler keep the clock's reading.
__u64 last_ns = 0;

SEC("raw_tp/sys_enter")
int clock_enter(void* ctx) {
  last_ns = bpf_ktime_get_ns();
  return 0;
}

SEC("raw_tp/sys_exit")
int clock_exit(void* ctx) {
  last_ns = bpf_ktime_get_ns();
  return 0;
}

// The same for a tracer of the scheduler.
SEC("raw_tp/sched_switch")
int empty_switch(void* ctx) {
  return 0;
}
