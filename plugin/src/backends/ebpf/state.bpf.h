// SPDX-License-Identifier: MIT OR GPL-2.0
//
// What the programs of syscost.bpf.c hold: the maps they share with the measured process (shared.h), each thread's
// state, and which lane, bank and shard a call is counted in.
#pragma once

#include "kernel_types.bpf.h"
// Above first: libbpf's headers use the types.
#include <bpf/bpf_helpers.h>

#include "shared.h"

#define __noinline __attribute__((noinline))
#define barrier() asm volatile("" ::: "memory")
#define READ_ONCE(x) (*(volatile typeof(x)*)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x)*)&(x) = (v))

// Set before loading.
const volatile __u32 cpu_count = 1;
const volatile __u64 registration_cookie = 0;

// Shared with the process.
__u32 target_tgid = 0;  // in the initial PID namespace; written by identify()
struct syscost_lane lanes[SYSCOST_LANES] = {};
struct syscost_cpu cpus[SYSCOST_MAX_CPUS] = {};
struct syscost_directory directory = {};
struct syscost_log_record call_log[SYSCOST_LOG_RECORDS] = {};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);  // banks * shards * slots, set before loading
  __type(key, __u32);
  __type(value, struct syscost_cell);
} cells SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);  // banks * shards, set before loading
  __type(key, __u32);
  __type(value, struct syscost_shard);
} shards SEC(".maps");

enum pending {
  PENDING_NONE,
  PENDING_INSIDE,      // entered, not yet returned
  PENDING_UNRESOLVED,  // returned a restart code: EINTR or restart, the next event tells
  PENDING_OURS,        // syscost's own registration call
  PENDING_IGNORED,     // entered, not selected or already counted as lost
  PENDING_RESUMABLE,   // not selected, returned a code after which the kernel may resume it by restart_syscall
};

// One per thread, found through the task: survives exec's change of thread id, freed at exit.
struct thread_state {
  __u64 control;  // of the lane when the call entered
  __u64 enter_ns;
  __u64 latency_ns;  // of an unresolved call
  __u64 token;       // registration: lane `lane` is ours while its owner equals this
  __u32 lane;
  __u32 entered_lane;
  __u32 slot;
  __u16 pending;
  __u16 restart_code;
  __u32 epoch;  // the attachment that `pending` was seen under
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_state);
} threads SEC(".maps");

static __always_inline bool is_target(const struct task_struct* task) {
  return (__u32)task->tgid == target_tgid;
}

static __always_inline struct syscost_cpu* this_cpu(void) {
  __u32 cpu = bpf_get_smp_processor_id();
  return cpu < SYSCOST_MAX_CPUS ? &cpus[cpu] : 0;
}

// A program announces itself before it reads a control word (the atomic is a full barrier), so that the process, having
// stored a new control and seen no odd sequence, knows that nobody writes to the old bank any more.
static __always_inline void begin_program(__u64* sequence) {
  __sync_fetch_and_add(sequence, 1);
}

static __always_inline void end_program(__u64* sequence) {
  barrier();
  WRITE_ONCE(*sequence, READ_ONCE(*sequence) + 1);
}

// The lane whose control decides about this thread now, and that control.
static __always_inline __u32 current_lane(const struct thread_state* thread, __u64* control) {
  __u32 lane = thread->lane;
  if (lane > 0 && lane < SYSCOST_LANES && READ_ONCE(lanes[lane].owner) == thread->token) {
    __u64 own = READ_ONCE(lanes[lane].control);
    if (own != SYSCOST_FOLLOW_PROCESS) {
      *control = own;
      return lane;
    }
  }
  *control = READ_ONCE(lanes[0].control);
  return 0;
}

// True when what we keep of the thread is from before the programs were taken off: what it did since, nobody saw.
static __always_inline bool is_stale(const struct thread_state* thread) {
  return thread->epoch != READ_ONCE(directory.attach_epoch);
}

static __always_inline __u32 shard_index(__u64 control, __u32 lane) {
  __u32 shard = lane ? cpu_count + lane - 1 : bpf_get_smp_processor_id();
  return (__u32)SYSCOST_CONTROL_BANK(control) * (cpu_count + SYSCOST_LANES - 1) + shard;
}

static __always_inline struct syscost_cell* cell_at(__u32 shard, __u32 slot) {
  __u32 key = shard * SYSCOST_SLOTS + (slot & (SYSCOST_SLOTS - 1));
  return bpf_map_lookup_elem(&cells, &key);
}

static __always_inline struct syscost_shard* shard_at(__u32 shard) {
  return bpf_map_lookup_elem(&shards, &shard);
}

static __always_inline void mark(__u64* words, __u32 slot) {
  words[(slot / 64) & (SYSCOST_DIRTY_WORDS - 1)] |= 1ULL << (slot & 63);
}

static __always_inline void log_crossing(const struct thread_state* thread, __u64 control, __u32 lane, __u8 outcome,
                                         bool latency_counted, __s32 error) {
  __u64 index = __sync_fetch_and_add(&directory.log_produced, 1);
  if (index - READ_ONCE(directory.log_consumed) >= SYSCOST_LOG_RECORDS) {
    // The slot is still unread. The record is given up; its sequence stays behind, which is how the reader knows.
    __sync_fetch_and_add(&directory.log_lost, 1);
    return;
  }
  struct syscost_log_record* record = &call_log[index & (SYSCOST_LOG_RECORDS - 1)];
  record->entered_in = SYSCOST_CONTROL_GENERATION(thread->control);
  record->returned_in = SYSCOST_CONTROL_GENERATION(control);
  record->latency_ns = thread->latency_ns;
  record->slot = thread->slot;
  record->lane = (__u8)thread->entered_lane;
  record->returned_lane = (__u8)lane;
  record->outcome = outcome;
  record->latency_counted = latency_counted;
  record->error = error;
  barrier();
  WRITE_ONCE(record->sequence, index + 1);
}
