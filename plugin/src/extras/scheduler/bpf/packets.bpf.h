// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Packets that a thread sends over the loopback device (--syscost_sched).
//
// The sender gives such a packet to its CPU, and the CPU receives it before the sender's call goes on: in a softirq, as
// if a device had interrupted the sender. A thread that waits for the packet is woken there, and the sender is its
// waker. So each packet is followed by its address, from netif_rx, where the sender is known, to netif_receive_skb. A
// packet that is sent while another one is received, such as TCP's answer, belongs to the sender of that one. Until the
// next packet, or the end of the poll, wake-ups are due to the packet. If another thread runs on the CPU by then, the
// packet has no sender here: the waker stays an interrupt.
#pragma once

#include "../../../backends/ebpf/bpf/state.bpf.h"

struct sender {
  __u32 thread;  // 0 = none
  __u32 padding;
  __u64 switches;  // how often it had left a CPU; unchanged while it stays on this one
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 1024);
  __type(key, __u64);
  __type(value, struct sender);
} packets SEC(".maps");

// Of the packet that this CPU receives.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct sender);
} received SEC(".maps");

static __always_inline struct sender sender_of(const struct task_struct* task) {
  struct sender sender = {.thread = (__u32)task->pid, .switches = task->nvcsw + task->nivcsw};
  return sender;
}

static __always_inline struct sender* received_here(void) {
  __u32 key = 0;
  return bpf_map_lookup_elem(&received, &key);
}

// True if this CPU is receiving a packet of the thread, which is the current one.
static __always_inline bool receives_packet_of(const struct task_struct* current) {
  const struct sender* from = received_here();
  return from && from->thread && from->thread == (__u32)current->pid &&
         from->switches == current->nvcsw + current->nivcsw;
}

static __always_inline void see_packet_sent(__u64 packet, const struct task_struct* current) {
  struct sender sender = sender_of(current);
  if (sender.thread) bpf_map_update_elem(&packets, &packet, &sender, BPF_ANY);
}

static __always_inline void see_packet_received(__u64 packet) {
  struct sender* here = received_here();
  if (!here) return;
  const struct sender* from = bpf_map_lookup_elem(&packets, &packet);
  if (!from) {
    here->thread = 0;
    return;
  }
  here->switches = from->switches;
  here->thread = from->thread;
  bpf_map_delete_elem(&packets, &packet);
}

static __always_inline void see_packets_end(void) {
  struct sender* here = received_here();
  if (here) here->thread = 0;
}
