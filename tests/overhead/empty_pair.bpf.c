// SPDX-License-Identifier: MIT OR GPL-2.0
//
// The least an eBPF syscall tracer can cost: one program at entry, one at exit, neither does anything. What our
// programs add is judged against this. And the least that a tracer which times calls can cost: the same pair, each
// reading the clock once.
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
