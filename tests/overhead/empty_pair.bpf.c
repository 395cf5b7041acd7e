// SPDX-License-Identifier: MIT OR GPL-2.0
//
// The least an eBPF syscall tracer can cost: one program at entry, one at exit, neither does anything. What our
// programs add is judged against this.
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
