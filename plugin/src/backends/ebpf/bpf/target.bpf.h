// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Where and how a call is counted. Only here do the calls of the measured process and those of its children differ.
// `child` is null for the process's own threads; the compiler knows which.
#pragma once

#include "../../../extras/children/bpf/children.bpf.h"
#include "bytes.bpf.h"
#include "details.bpf.h"
#include "directory.bpf.h"

#define MAX_ERRNO 4095

// The cell of a slot in one segment. In a process, the bank belongs to one CPU or one lane, so plain additions suffice.
// A child's cell is for all CPUs, and has no `bank`.
struct count_target {
  struct syscost_bank* bank;
  struct syscost_cell* cell;
  __u32 partition;  // for children the number of the bank
};

static __always_inline void find_bank(const struct process* process, const struct child* child, __u64 control,
                                      __u32 lane, struct count_target* target) {
  target->bank = 0;
  if (child) {
    target->partition = SYSCOST_CONTROL_BANK(control);
  } else {
    target->partition = partition_index(control, lane);
    target->bank = bank_at(process, target->partition);
  }
}

static __always_inline bool find_cell(const struct child* child, __u32 slot, struct count_target* target) {
  if (child) {
    target->cell = child_cell_at(target->partition, slot);
  } else {
    target->cell = target->bank ? cell_at(target->bank, target->partition, slot) : 0;
  }
  return target->cell;
}

static __always_inline bool find_count_target(const struct process* process, const struct child* child, __u64 control,
                                              __u32 lane, __u32 slot, struct count_target* target) {
  find_bank(process, child, control, lane, target);
  return find_cell(child, slot, target);
}

// `words` are those of the program that counts.
#define MARK(child, target, slot, words)                           \
  ({                                                               \
    if (child) {                                                   \
      mark_child_slot((child)->memory, (target)->partition, slot); \
    } else {                                                       \
      mark((target)->bank->words, slot);                           \
    }                                                              \
  })

static __always_inline void add_one(const struct child* child, __u64* field) {
  if (child) {
    __sync_fetch_and_add(field, 1);
  } else {
    ++*field;
  }
}

// The slot of a syscall, details apart.
static __always_inline __u32 plain_slot_of(const struct process* process, const struct child* child, __u64 index) {
  struct syscost_directory* directory = &process->head->directory;
  return child ? child_slot_of(child, directory, index) : slot_of(directory, index);
}

static __always_inline bool is_sigreturn_slot(const struct process* process, const struct child* child, __u32 slot) {
  return child ? is_sigreturn_call(syscall_of_child_slot(child->memory, slot))
               : is_sigreturn(&process->head->directory, slot);
}

static __always_inline void count_error(const struct process* process, const struct child* child,
                                        const struct count_target* target, __u32 slot, long result,
                                        struct syscost_cpu* cpu) {
  if (result >= 0 || result < -MAX_ERRNO) return;
  if (child) {
    if (!count_child_error(child->memory, target->partition, slot, (__u32)-result)) cpu->lost_exit++;
    return;
  }
  __u32 error_slot = error_slot_of(&process->head->directory, slot, (__u32)-result);
  if (error_slot >= SYSCOST_ERROR_SLOTS) {
    cpu->lost_exit++;
    return;
  }
  struct syscost_bank* bank = target->bank;
  AT(bank->dirty_errors, error_slot / 64) |= 1ULL << (error_slot & 63);
  AT(bank->errors, error_slot)++;
}

static __always_inline void add_to(const struct child* child, __u64* field, __u64 value) {
  if (!value) return;
  if (child) {
    __sync_fetch_and_add(field, value);
  } else {
    *field += value;
  }
}

static __always_inline void count_bytes(const struct child* child, struct syscost_cell* cell, struct byte_count bytes) {
  add_to(child, &cell->bytes, bytes.bytes);
  add_to(child, &cell->bytes_second, bytes.second);
}

static __always_inline void count_latency(const struct child* child, struct syscost_cell* cell, __u64 latency_ns) {
  if (child) {
    count_child_latency(cell, latency_ns);
    return;
  }
  if (cell->latency_count == 0 || latency_ns < cell->latency_min_ns) cell->latency_min_ns = latency_ns;
  if (latency_ns > cell->latency_max_ns) cell->latency_max_ns = latency_ns;
  cell->latency_count++;
  cell->latency_sum_ns += latency_ns;
  __u32 bucket = syscost_bucket_of(latency_ns);
  if (bucket < SYSCOST_BUCKETS) AT(cell->buckets, bucket)++;
}
