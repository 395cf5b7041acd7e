// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Children: the processes below a measured one, counted by the program they run.
//
// Loaded only with --syscost_children, for a process that has a pair of programs for itself. Children have their own
// programs; those of the process are the same with and without them. A thread's task storage says which process it is a
// child of: fork hands the storage down and exec leaves it in place. So no process ids are needed, which would be wrong
// after an exec by a second thread, in a PID namespace or for a reused number, and the storage ends with the task.
//
// Children are many and short, so their cells are one for all CPUs, and programs add to them atomically.
#pragma once

#include "../../../backends/ebpf/bpf/syscall_numbers.bpf.h"
#include "children_shared.h"
// Above first: libbpf's headers use the types.
#include <bpf/bpf_core_read.h>

struct program_name {
  char text[SYSCOST_PROGRAM_NAME];
};

// These maps exist only with --syscost_children.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct syscost_children);
} children SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, SYSCOST_BANKS* SYSCOST_CHILD_SLOTS);
  __type(key, __u32);
  __type(value, struct syscost_cell);
} child_cells SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SYSCOST_CHILD_SLOTS);
  __type(key, struct syscost_child_call);
  __type(value, __u32);
} child_slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SYSCOST_CHILD_ERROR_SLOTS);
  __type(key, struct syscost_child_error);
  __type(value, __u32);
} child_error_slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SYSCOST_PROGRAMS);
  __type(key, struct program_name);
  __type(value, __u32);
} program_numbers SEC(".maps");

struct child_thread {
  struct thread_state thread;  // its lane is always 0, the process's
  __u32 process;               // below which it is
  __u32 program;               // or SYSCOST_NO_PROGRAM
  bool is_ours;                // works for syscost: neither its calls nor those of its children count
  __u8 padding[7];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct child_thread);
} child_threads SEC(".maps");

// A child's thread, as a program sees it. The handlers of calls.bpf.h take a pointer to it, which is null for a thread
// of the measured process itself. The compiler knows which, so neither kind costs the other anything.
struct child {
  struct child_thread* state;
  struct syscost_children* memory;
};

static __always_inline struct syscost_children* children_memory(void) {
  __u32 only = 0;
  return bpf_map_lookup_elem(&children, &only);
}

// False for a task that is not a child.
static __always_inline bool find_child(struct task_struct* task, struct child* child, struct process* process) {
  child->state = bpf_task_storage_get(&child_threads, task, 0, 0);
  if (!child->state) return false;
  child->memory = children_memory();
  return child->memory && find_process(child->state->process, process);
}

// os/own_calls.h. This is not the cookie that enrols a process: a child that makes a call with that one becomes a
// measured process.
static __always_inline bool is_cookie_of_own_calls(const struct child* child, __u64 cookie) {
  return cookie == SYSCOST_OWN_CALLS(AT(enrolments, child->state->process).cookie);
}

static __always_inline struct syscost_cpu* cpu_of_children(struct syscost_children* memory) {
  __u32 cpu = bpf_get_smp_processor_id();
  return cpu < SYSCOST_MAX_CPUS ? &AT(memory->cpus, cpu) : 0;
}

// ---- slots ----------------------------------------------------------------------------------------------------------

// If two CPUs see a new key at the same time, it gets two slots or numbers. The process adds them up.

static __noinline __u32 slot_of_child_call(struct syscost_children* memory, __u32 program, __u64 syscall) {
  struct syscost_child_call call = {.syscall = syscall, .program = program};
  const __u32* known = bpf_map_lookup_elem(&child_slots, &call);
  if (known) return *known;
  if (program == SYSCOST_NO_PROGRAM || READ_ONCE(memory->slots_used) >= SYSCOST_CHILD_SLOTS) return SYSCOST_NO_SLOT;
  __u32 fresh = __sync_fetch_and_add(&memory->slots_used, 1);
  if (fresh >= SYSCOST_CHILD_SLOTS) return SYSCOST_NO_SLOT;
  AT(memory->calls, fresh) = call;
  __u32 slot = SYSCOST_FIRST_CHILD_SLOT + fresh;
  bpf_map_update_elem(&child_slots, &call, &slot, BPF_NOEXIST);
  return slot;
}

static __always_inline __u32 child_slot_of(const struct child* child, const struct syscost_directory* directory,
                                           __u64 index) {
  bool is_selected = index >= SYSCOST_INDEXES ? !directory->ignores_unlisted
                                              : READ_ONCE(AT(directory->slot_of, index)) != SYSCOST_NOT_SELECTED;
  if (!is_selected) return SYSCOST_NOT_SELECTED;
  return slot_of_child_call(child->memory, child->state->program, syscall_at(index));
}

static __noinline __u32 child_error_slot_of(struct syscost_children* memory, __u32 slot, __u32 error) {
  struct syscost_child_error key = {.slot = slot, .error = error};
  const __u32* known = bpf_map_lookup_elem(&child_error_slots, &key);
  if (known) return *known;
  if (READ_ONCE(memory->error_slots_used) >= SYSCOST_CHILD_ERROR_SLOTS) return SYSCOST_CHILD_ERROR_SLOTS;
  __u32 fresh = __sync_fetch_and_add(&memory->error_slots_used, 1);
  if (fresh >= SYSCOST_CHILD_ERROR_SLOTS) return SYSCOST_CHILD_ERROR_SLOTS;
  AT(memory->errors, fresh) = key;
  bpf_map_update_elem(&child_error_slots, &key, &fresh, BPF_NOEXIST);
  return fresh;
}

static __always_inline __u64 syscall_of_child_slot(const struct syscost_children* memory, __u32 slot) {
  return AT(memory->calls, slot - SYSCOST_FIRST_CHILD_SLOT).syscall;
}

// ---- cells ----------------------------------------------------------------------------------------------------------

static __always_inline struct syscost_cell* child_cell_at(__u32 bank, __u32 slot) {
  __u32 key = bank * SYSCOST_CHILD_SLOTS + (slot - SYSCOST_FIRST_CHILD_SLOT);
  return bpf_map_lookup_elem(&child_cells, &key);
}

static __always_inline void mark_atomically(__u64* word, __u32 bit) {
  __u64 mask = 1ULL << (bit & 63);
  if (!(READ_ONCE(*word) & mask)) __sync_fetch_and_or(word, mask);
}

static __always_inline void mark_child_slot(struct syscost_children* memory, __u32 bank, __u32 slot) {
  __u32 index = slot - SYSCOST_FIRST_CHILD_SLOT;
  struct syscost_child_bank* into = &AT(memory->banks, bank);
  mark_atomically(&AT(into->dirty, index / 64), index);
}

// False when there is no place for it.
static __always_inline bool count_child_error(struct syscost_children* memory, __u32 bank, __u32 slot, __u32 error) {
  __u32 index = child_error_slot_of(memory, slot, error);
  if (index >= SYSCOST_CHILD_ERROR_SLOTS) return false;
  struct syscost_child_bank* into = &AT(memory->banks, bank);
  mark_atomically(&AT(into->dirty_errors, index / 64), index);
  __sync_fetch_and_add(&AT(into->errors, index), 1);
  return true;
}

// Keeps the smaller, or the larger, of *word and value; 0 = nothing yet. After each failed exchange, another CPU has
// brought the word nearer to its final value, so the loop ends before its bound.
#define EXCHANGES 64
static __always_inline void keep_smaller(__u64* word, __u64 value) {
  for (__u32 i = 0; i < EXCHANGES; ++i) {
    __u64 seen = READ_ONCE(*word);
    if (seen && seen <= value) return;
    if (__sync_val_compare_and_swap(word, seen, value) == seen) return;
  }
}

static __always_inline void keep_larger(__u64* word, __u64 value) {
  for (__u32 i = 0; i < EXCHANGES; ++i) {
    __u64 seen = READ_ONCE(*word);
    if (seen >= value) return;
    if (__sync_val_compare_and_swap(word, seen, value) == seen) return;
  }
}

static __noinline void count_child_latency(struct syscost_cell* cell, __u64 latency_ns) {
  if (!cell) return;
  if (!latency_ns) latency_ns = 1;  // 0 is "nothing yet"
  keep_smaller(&cell->latency_min_ns, latency_ns);
  keep_larger(&cell->latency_max_ns, latency_ns);
  __sync_fetch_and_add(&cell->latency_count, 1);
  __sync_fetch_and_add(&cell->latency_sum_ns, latency_ns);
  __u32 bucket = syscost_bucket_of(latency_ns);
  if (bucket < SYSCOST_BUCKETS) __sync_fetch_and_add(&AT(cell->buckets, bucket), 1);
}

// ---- programs -------------------------------------------------------------------------------------------------------

// The number of the program that `task` runs: of its file's name, as /proc/PID/exe ends in it. A script is its
// interpreter.
static __noinline __u32 program_of(struct task_struct* task, struct syscost_children* memory) {
  struct program_name name = {};
  if (!memory) return SYSCOST_NO_PROGRAM;
  struct file* file = BPF_CORE_READ(task, mm, exe_file);
  const unsigned char* text = BPF_CORE_READ(file, f_path.dentry, d_name.name);
  // Without a file it is the empty name, which the process calls "unknown".
  if (file) bpf_probe_read_kernel_str(name.text, sizeof(name.text), text);
  const __u32* known = bpf_map_lookup_elem(&program_numbers, &name);
  if (known) return *known;
  if (READ_ONCE(memory->programs_used) >= SYSCOST_PROGRAMS) return SYSCOST_NO_PROGRAM;
  __u32 fresh = __sync_fetch_and_add(&memory->programs_used, 1);
  if (fresh >= SYSCOST_PROGRAMS) return SYSCOST_NO_PROGRAM;
  __builtin_memcpy(AT(memory->names, fresh), name.text, sizeof(name.text));
  bpf_map_update_elem(&program_numbers, &name, &fresh, BPF_NOEXIST);
  return fresh;
}

// The current task makes a process or thread, which has not run yet.
static __always_inline void handle_birth(struct task_struct* parent, struct task_struct* born) {
  struct syscost_children* memory = children_memory();
  if (!memory) return;
  __u32 index, program;
  const struct child_thread* above = bpf_task_storage_get(&child_threads, parent, 0, 0);
  if (above) {
    if (above->is_ours) return;
    index = above->process;
    program = above->program;
  } else {
    __u32 found = find_target((__u32)parent->tgid);
    if (!found || born->tgid == parent->tgid) return;
    index = found - 1;
    program = program_of(parent, memory);
  }
  struct process process;
  if (!find_process(index, &process) || (!above && !is_enrolled(parent, index))) return;
  struct child_thread* state = bpf_task_storage_get(&child_threads, born, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!state) {
    __sync_fetch_and_add(&memory->lost_processes, 1);
    return;
  }
  state->process = index;
  state->program = program;
  forget_past(&process, &state->thread);
  state->thread.serial = process.serial;
  state->thread.pending = PENDING_BIRTH;
}

static __always_inline void handle_exec(struct task_struct* task) {
  struct child_thread* state = bpf_task_storage_get(&child_threads, task, 0, 0);
  if (!state) return;
  state->program = program_of(task, children_memory());
  state->is_ours = false;
}
