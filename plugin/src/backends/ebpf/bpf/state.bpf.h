// SPDX-License-Identifier: MIT OR GPL-2.0
//
// What the programs of syscost.bpf.c hold: the maps they share with the measured processes (shared.h), each thread's
// state, and which lane, bank and partition a call is counted in.
#pragma once

#include "bounds.bpf.h"
#include "kernel_types.bpf.h"
// Above first: libbpf's headers use the types.
#include <bpf/bpf_helpers.h>

#include "../shared.h"

#define __noinline __attribute__((noinline))
#define barrier() asm volatile("" ::: "memory")
#define READ_ONCE(x) (*(volatile typeof(x)*)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x)*)&(x) = (v))

// Set before loading.
const volatile __u32 cpu_count = 1;
// Details (details.bpf.h). They are off by default. Only a process with programs of its own can have them.
const volatile bool with_details = false;
const volatile bool details_ioctls = false;
const volatile bool details_files = false;
const volatile __u32 rule_count = 0;
const volatile struct syscost_rule rules[SYSCOST_RULES] = {};
const volatile __u32 thread_name_count = 0;
const volatile struct syscost_thread_name thread_names[SYSCOST_THREAD_NAMES] = {};

// Shared with the process that loaded the programs (enrolment.bpf.h).
struct syscost_enrolment enrolments[SYSCOST_PROCESSES] = {};
__u64 targets[SYSCOST_TARGET_BUCKETS][SYSCOST_TARGET_WAYS] = {};

// The map that each process shares with the programs. No other process sees it.
struct process_map {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);  // head, log, banks * partitions: set before loading
  // By size, because clang leaves the value type of an inner map out of the type information.
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(union syscost_block));
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, SYSCOST_PROCESSES);
  __type(key, __u32);
  __array(values, struct process_map);
} processes SEC(".maps");

// The cells of details. They belong to one process only, which has this pair of programs for itself.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);  // banks * partitions * detail slots, set before loading where details are asked for
  __type(key, __u32);
  __type(value, struct syscost_cell);
} detail_cells SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // detail slots, set before loading where details are asked for
  __type(key, struct syscost_detail);
  __type(value, __u32);
} detail_slots SEC(".maps");

// A measured process, as a program sees it: found once, passed on.
struct process {
  struct syscost_head* head;
  void* blocks;  // its map
  __u32 serial;
};

enum pending {
  PENDING_NONE,
  PENDING_INSIDE,      // entered, not yet returned
  PENDING_UNRESOLVED,  // returned a restart code: EINTR or restart, the next event tells
  PENDING_OURS,        // syscost's own registration call
  PENDING_IGNORED,     // entered, not selected or already counted as lost
  PENDING_RESUMABLE,   // not selected, returned a code after which the kernel may resume it by restart_syscall
  PENDING_BIRTH,       // a child's thread; its first event, clone's return, is to come
};

// One per thread, found through the task: survives exec's change of thread id, freed at exit.
struct thread_state {
  __u64 control;  // of the lane when the call entered
  __u64 enter_ns;
  union {
    __u64 asked;       // inside a call: what its arguments say of bytes, or of an open (bytes.bpf.h)
    __u64 latency_ns;  // of an unresolved call
  };
  __u64 token;  // registration: lane `lane` is ours while its owner equals this
  __u32 lane;
  __u32 entered_lane;
  __u32 slot;
  __u16 pending;
  __u16 restart_code;
  __u32 epoch;      // the attachment that `pending` was seen under
  __u32 serial;     // the process that it was: exec may make another one of it
  __u16 status_at;  // where the argument of the call it is in will hold the driver's status
  __u8 byte_source;
  __u8 padding[5];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_state);
} threads SEC(".maps");

static __always_inline union syscost_block* block_at(const struct process* process, __u32 index) {
  return bpf_map_lookup_elem(process->blocks, &index);
}

// The index of the process's map + 1; 0 = it is not measured. It runs for every syscall of the host.
static __always_inline __u32 find_target(__u32 tgid) {
  __u64* bucket = AT(targets, tgid);
  for (__u32 way = 0; way < SYSCOST_TARGET_WAYS; ++way) {
    __u64 target = READ_ONCE(bucket[way]);
    if (SYSCOST_TARGET_TGID(target) == tgid) return SYSCOST_TARGET_PROCESS_PLUS_1(target);
  }
  return 0;
}

static __always_inline bool find_process(__u32 index, struct process* process) {
  if (index >= SYSCOST_PROCESSES) return false;
  process->blocks = bpf_map_lookup_elem(&processes, &index);
  if (!process->blocks) return false;
  union syscost_block* first = block_at(process, 0);
  if (!first) return false;
  process->head = &first->head;
  process->serial = AT(enrolments, index).serial;
  return true;
}

// False if another process got the number of the process that is enrolled there, or if that one has executed another
// program. Call it after the map was found: when a place goes to another process, the start of the former one is
// cleared before the map is replaced.
static __always_inline bool is_enrolled(const struct task_struct* task, __u32 index) {
  const struct syscost_enrolment* enrolment = &AT(enrolments, index);
  return READ_ONCE(enrolment->start) == task->group_leader->start_boottime &&
         READ_ONCE(enrolment->program) == task->self_exec_id;
}

// False for every process that is not measured.
static __always_inline bool find_current(const struct task_struct* task, struct process* process) {
  __u32 found = find_target((__u32)task->tgid);
  return found && find_process(found - 1, process) && is_enrolled(task, found - 1);
}

static __always_inline struct syscost_cpu* this_cpu(const struct process* process) {
  __u32 cpu = bpf_get_smp_processor_id();
  return cpu < SYSCOST_MAX_CPUS ? &AT(process->head->cpus, cpu) : 0;
}

// A program announces itself before it reads a control word (the atomic is a full barrier). So if the process has
// stored a new control and then sees no odd sequence, no program writes to the old bank any more.
static __always_inline void begin_program(__u64* sequence) {
  __sync_fetch_and_add(sequence, 1);
}

static __always_inline void end_program(__u64* sequence) {
  barrier();
  WRITE_ONCE(*sequence, READ_ONCE(*sequence) + 1);
}

// The lane of this thread now, and the lane's control.
static __always_inline __u32 current_lane(const struct process* process, const struct thread_state* thread,
                                          __u64* control) {
  __u32 lane = thread->lane;
  if (lane > 0 && lane < SYSCOST_LANES) {
    struct syscost_lane* scope = &AT(process->head->lanes, lane);
    if (READ_ONCE(scope->owner) == thread->token) {
      __u64 own = READ_ONCE(scope->control);
      if (own != SYSCOST_FOLLOW_PROCESS) {
        *control = own;
        return lane;
      }
    }
  }
  *control = READ_ONCE(process->head->lanes[0].control);
  return 0;
}

// True if our state of the thread is older than the last detach, or than the moment when the thread became another
// process. No program saw its calls since then.
static __always_inline bool is_stale(const struct process* process, const struct thread_state* thread) {
  return thread->serial != process->serial || thread->epoch != READ_ONCE(process->head->directory.attach_epoch);
}

static __always_inline void forget_past(const struct process* process, struct thread_state* thread) {
  if (thread->serial != process->serial) {
    thread->serial = process->serial;
    thread->lane = 0;
    thread->token = 0;
    __sync_fetch_and_add(&process->head->directory.threads_seen, 1);
  }
  thread->epoch = READ_ONCE(process->head->directory.attach_epoch);
  thread->pending = PENDING_NONE;
}

// The index of the bank in which `lane`, or for lane 0 this CPU, counts under `control`.
static __always_inline __u32 partition_index(__u64 control, __u32 lane) {
  __u32 partition = lane ? cpu_count + lane - 1 : bpf_get_smp_processor_id();
  return (__u32)SYSCOST_CONTROL_BANK(control) * (cpu_count + SYSCOST_LANES - 1) + partition;
}

static __always_inline struct syscost_bank* bank_at(const struct process* process, __u32 partition) {
  union syscost_block* block = block_at(process, SYSCOST_FIRST_BANK + partition);
  return block ? &block->bank : 0;
}

// The cell of a syscall or a detail; `bank` is the partition's.
static __always_inline struct syscost_cell* cell_at(struct syscost_bank* bank, __u32 partition, __u32 slot) {
  if (with_details && slot >= SYSCOST_SLOTS) {
    __u32 index = slot - SYSCOST_SLOTS;
    __u32 key = partition * SYSCOST_DETAIL_SLOTS + index;
    return index < SYSCOST_DETAIL_SLOTS ? bpf_map_lookup_elem(&detail_cells, &key) : 0;
  }
  return &AT(bank->cells, slot);
}

static __always_inline void mark(__u64* words, __u32 slot) {
  words[BOUNDED(slot / 64, SYSCOST_DIRTY_WORDS)] |= 1ULL << (slot & 63);
}

static __always_inline void log_crossing(const struct process* process, const struct thread_state* thread,
                                         __u64 control, __u32 lane, __u8 outcome, bool latency_counted, __s32 error,
                                         __u64 bytes, __u64 bytes_second) {
  struct syscost_directory* directory = &process->head->directory;
  __u64 index = __sync_fetch_and_add(&directory->log_produced, 1);
  if (index - READ_ONCE(directory->log_consumed) >= SYSCOST_LOG_RECORDS) {
    // The process has not read the slot yet, so the record is dropped. The old sequence in the slot shows that to the
    // process.
    __sync_fetch_and_add(&directory->log_lost, 1);
    return;
  }
  union syscost_block* block =
      block_at(process, SYSCOST_FIRST_LOG_BLOCK + (index / SYSCOST_LOG_BLOCK_RECORDS) % SYSCOST_LOG_BLOCKS);
  if (!block) return;  // never: every map has them
  struct syscost_log_record* record = &AT(block->log.records, index);
  record->entered_in = SYSCOST_CONTROL_GENERATION(thread->control);
  record->returned_in = SYSCOST_CONTROL_GENERATION(control);
  record->latency_ns = thread->latency_ns;
  record->bytes = bytes;
  record->bytes_second = bytes_second;
  record->slot = thread->slot;
  record->lane = (__u8)thread->entered_lane;
  record->returned_lane = (__u8)lane;
  record->outcome = outcome;
  record->latency_counted = latency_counted;
  record->error = error;
  barrier();
  WRITE_ONCE(record->sequence, index + 1);
}
