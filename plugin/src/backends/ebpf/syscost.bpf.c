// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Counts the syscalls of one process, exactly, by segment.
//
// Three programs see what the kernel does with a syscall: sys_enter, sys_exit and, because an interrupted call's
// fate is only known when the signal is delivered, signal_deliver. They are attached once per run. What a call is
// charged to is decided by one word in shared memory, its lane's control (shared.h): the measured process starts a new
// segment by storing to it, without a syscall.
//
// A call belongs to the segment it entered. Most calls end in the segment they began in and are counted in a cell; one
// that crosses a boundary becomes a log record, and the process, which knows its windows, decides what it was. What
// cannot be recorded is counted as lost.
//
// What the events really say, and the rules below, were established by experiment: docs/backends.md.
#include "kernel_types.bpf.h"
// Above first: libbpf's headers use the types.
#include <bpf/bpf_helpers.h>

#include "shared.h"

#define TS_COMPAT 0x0002    // arch/x86/include/asm/thread_info.h: the syscall came by int $0x80
#define X32_BIT 0x40000000  // arch/x86/include/uapi/asm/unistd.h
#define SA_RESTART 0x10000000ULL
#define EINTR 4
#define ERESTARTSYS 512  // include/linux/errno.h: what a call returns when a signal ended it
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516
#define MAX_ERRNO 4095

#define NR_FORK 57
#define NR_VFORK 58
#define NR_CLONE 56
#define NR_CLONE3 435
#define NR_GETTID 186
#define NR_EXIT 60
#define NR_EXIT_GROUP 231
#define NR_RESTART_SYSCALL 219
#define NR_RT_SIGRETURN 15
#define NR_I386_SIGRETURN 119
#define NR_I386_RT_SIGRETURN 173
#define NR_X32_RT_SIGRETURN 513
#define NR_I386_EXIT 1
#define NR_I386_FORK 2
#define NR_I386_CLONE 120
#define NR_I386_VFORK 190
#define NR_I386_EXIT_GROUP 252
#define NR_I386_RESTART_SYSCALL 0

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
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_state);
} threads SEC(".maps");

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __always_inline bool is_target(void) {
  return (__u32)bpf_get_current_task_btf()->tgid == target_tgid;
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

// Which syscall: an index into directory.slot_of, or SYSCOST_INDEXES and more for numbers beyond every table.
#define SYSCOST_INDEXES (SYSCOST_ABIS * SYSCOST_NUMBERS)
static __always_inline __u64 syscall_index(long number) {
  struct task_struct* task = bpf_get_current_task_btf();
  __u32 abi = 0;
  if (task->thread_info.status & TS_COMPAT) {
    abi = 1;
  } else if (number >= 0 && (number & X32_BIT)) {
    abi = 2;
    number &= ~(long)X32_BIT;
  }
  if (number < 0 || number >= SYSCOST_NUMBERS) return 1ULL << 63 | (__u64)abi << 32 | (__u32)number;
  return abi * SYSCOST_NUMBERS + (__u32)number;
}

static __always_inline __u32 allocate_slot(__u64 syscall) {
  if (READ_ONCE(directory.slots_used) >= SYSCOST_SLOTS) return SYSCOST_SLOTS;
  __u32 fresh = __sync_fetch_and_add(&directory.slots_used, 1);
  if (fresh >= SYSCOST_SLOTS) return SYSCOST_SLOTS;
  directory.syscall_of[fresh] = syscall;
  return fresh;
}

// Numbers beyond the tables are rare and never valid: found by looking through the slots. Two CPUs that see a number
// first at the same time give it two slots, which the process adds up.
static __noinline __u32 wild_slot_of(__u64 syscall) {
  for (__u32 slot = 0; slot < SYSCOST_SLOTS; ++slot) {
    if (slot >= READ_ONCE(directory.slots_used)) break;
    if (directory.syscall_of[slot] == syscall) return slot;
  }
  return allocate_slot(syscall);
}

// The slot of a syscall, allocated when it is first seen. Returns SYSCOST_SLOTS when there is none left and
// SYSCOST_NOT_SELECTED when the syscall is not to be counted.
static __always_inline __u32 slot_of(__u64 index) {
  if (index >= SYSCOST_INDEXES) return directory.ignores_wild ? SYSCOST_NOT_SELECTED : wild_slot_of(index);
  __u32 known = READ_ONCE(directory.slot_of[index]);
  if (known == SYSCOST_NOT_SELECTED) return known;
  if (known) return known - 1;
  __u32 fresh = allocate_slot((index / SYSCOST_NUMBERS) << 32 | (index % SYSCOST_NUMBERS));
  if (fresh >= SYSCOST_SLOTS) return SYSCOST_SLOTS;
  __u32 other = __sync_val_compare_and_swap(&directory.slot_of[index], 0, fresh + 1);
  return other ? other - 1 : fresh;
}

static __always_inline __u32 allocate_error_slot(__u32 slot, __u32 error) {
  if (READ_ONCE(directory.error_slots_used) >= SYSCOST_ERROR_SLOTS) return SYSCOST_ERROR_SLOTS;
  __u32 fresh = __sync_fetch_and_add(&directory.error_slots_used, 1);
  if (fresh >= SYSCOST_ERROR_SLOTS) return SYSCOST_ERROR_SLOTS;
  directory.error_of[fresh] = slot << 16 | error;
  return fresh;
}

// An errno outside the table (a seccomp filter may answer any up to 4095): found by looking through the slots.
static __noinline __u32 wild_error_slot_of(__u32 slot, __u32 error) {
  for (__u32 i = 0; i < SYSCOST_ERROR_SLOTS; ++i) {
    if (i >= READ_ONCE(directory.error_slots_used)) break;
    if (directory.error_of[i] == (slot << 16 | error)) return i;
  }
  return allocate_error_slot(slot, error);
}

static __always_inline __u32 error_slot_of(__u32 slot, __u32 error) {
  if (error >= SYSCOST_ERRNOS) return wild_error_slot_of(slot, error);
  __u32 index = slot * SYSCOST_ERRNOS + error;
  if (index >= SYSCOST_SLOTS * SYSCOST_ERRNOS) return SYSCOST_ERROR_SLOTS;
  __u32 known = READ_ONCE(directory.error_slot_of[index]);
  if (known) return known - 1;
  __u32 fresh = allocate_error_slot(slot, error);
  if (fresh >= SYSCOST_ERROR_SLOTS) return SYSCOST_ERROR_SLOTS;
  __u32 other = __sync_val_compare_and_swap(&directory.error_slot_of[index], 0, fresh + 1);
  return other ? other - 1 : fresh;
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

// ---- sys_enter ------------------------------------------------------------------------------------------------------

static __always_inline bool never_returns(__u64 index) {
  return index == NR_EXIT || index == NR_EXIT_GROUP || index == SYSCOST_NUMBERS + NR_I386_EXIT ||
         index == SYSCOST_NUMBERS + NR_I386_EXIT_GROUP || index == 2 * SYSCOST_NUMBERS + NR_EXIT ||
         index == 2 * SYSCOST_NUMBERS + NR_EXIT_GROUP;
}

static __always_inline bool is_restart_syscall(__u64 index) {
  return index == NR_RESTART_SYSCALL || index == SYSCOST_NUMBERS + NR_I386_RESTART_SYSCALL ||
         index == 2 * SYSCOST_NUMBERS + NR_RESTART_SYSCALL;
}

// The call that waits for its fate is starting again, without a handler in between.
static __always_inline void resolve_plain_restart(struct thread_state* thread, __u64 control, __u32 lane) {
  thread->pending = PENDING_NONE;
  if (thread->control == control) {
    struct syscost_cell* cell = cell_at(shard_index(control, thread->entered_lane), thread->slot);
    if (cell) cell->restarts_plain++;
  } else if (thread->control && control) {
    log_crossing(thread, control, lane, SYSCOST_OUTCOME_RESTART, thread->latency_ns == 0, 0);
  }
}

static __always_inline void handle_enter(struct pt_regs* regs, long number, struct syscost_cpu* cpu) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread_state* thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) {
    if (READ_ONCE(lanes[0].control)) cpu->lost_enter++;
    return;
  }
  if (number == NR_GETTID && regs->di == registration_cookie) {
    __u64 packed = regs->si;
    thread->lane = (__u32)(packed & 0xff);
    thread->token = packed;
    thread->pending = PENDING_OURS;
    __sync_fetch_and_add(&directory.canaries_entered, 1);
    return;
  }
  __u64 control;
  __u32 lane = current_lane(thread, &control);
  __u64 index = syscall_index(number);
  bool resumes = false;
  bool ignored = thread->pending == PENDING_RESUMABLE && is_restart_syscall(index);
  if (thread->pending == PENDING_UNRESOLVED) {
    resumes = is_restart_syscall(index);
    resolve_plain_restart(thread, control, lane);
  }
  thread->control = control;
  thread->entered_lane = lane;
  thread->pending = PENDING_INSIDE;
  if (!control) return;

  // restart_syscall is the kernel's way to resume the call that was interrupted: one call, two entries.
  __u32 slot = ignored ? SYSCOST_NOT_SELECTED : resumes ? thread->slot : slot_of(index);
  thread->slot = slot;
  if (slot == SYSCOST_NOT_SELECTED) {
    thread->pending = PENDING_IGNORED;
    return;
  }
  if (slot >= SYSCOST_SLOTS) {
    cpu->lost_enter++;
    thread->pending = PENDING_IGNORED;
    return;
  }
  __u32 shard = shard_index(control, lane);
  struct syscost_cell* cell = cell_at(shard, slot);
  struct syscost_shard* bank = shard_at(shard);
  if (!cell || !bank) {
    cpu->lost_enter++;
    thread->pending = PENDING_IGNORED;
    return;
  }
  mark(bank->dirty_enter, slot);
  cell->entries++;
  if (never_returns(index)) {
    cell->no_return++;
    thread->pending = PENDING_NONE;
    return;
  }
  thread->enter_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sys_enter")
int on_sys_enter(__u64* ctx) {
  if (!is_target()) return 0;
  struct syscost_cpu* cpu = this_cpu();
  if (!cpu) return 0;
  begin_program(&cpu->enter_sequence);
  handle_enter((struct pt_regs*)ctx[0], (long)ctx[1], cpu);
  end_program(&cpu->enter_sequence);
  return 0;
}

// ---- sys_exit -------------------------------------------------------------------------------------------------------

static __always_inline bool is_restart_code(long result) {
  return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
         result == -ERESTART_RESTARTBLOCK;
}

static __always_inline bool is_sigreturn(__u32 slot) {
  if (slot >= SYSCOST_SLOTS) return false;
  __u64 syscall = directory.syscall_of[slot];
  return syscall == NR_RT_SIGRETURN || syscall == (1ULL << 32 | NR_I386_RT_SIGRETURN) ||
         syscall == (1ULL << 32 | NR_I386_SIGRETURN) || syscall == (2ULL << 32 | NR_X32_RT_SIGRETURN);
}

static __always_inline bool makes_a_child(__u64 index) {
  return index == NR_CLONE || index == NR_CLONE3 || index == NR_FORK || index == NR_VFORK ||
         index == SYSCOST_NUMBERS + NR_I386_CLONE || index == SYSCOST_NUMBERS + NR_CLONE3 ||
         index == SYSCOST_NUMBERS + NR_I386_FORK || index == SYSCOST_NUMBERS + NR_I386_VFORK;
}

static __always_inline void count_error(struct syscost_shard* bank, __u32 slot, long result, struct syscost_cpu* cpu) {
  if (result >= 0 || result < -MAX_ERRNO) return;
  __u32 error_slot = error_slot_of(slot, (__u32)-result);
  if (error_slot >= SYSCOST_ERROR_SLOTS) {
    cpu->lost_exit++;
    return;
  }
  bank->dirty_errors[(error_slot / 64) & (SYSCOST_ERROR_DIRTY_WORDS - 1)] |= 1ULL << (error_slot & 63);
  bank->errors[error_slot & (SYSCOST_ERROR_SLOTS - 1)]++;
}

static __always_inline void count_latency(struct syscost_cell* cell, __u64 latency_ns) {
  if (cell->latency_count == 0 || latency_ns < cell->latency_min_ns) cell->latency_min_ns = latency_ns;
  if (latency_ns > cell->latency_max_ns) cell->latency_max_ns = latency_ns;
  cell->latency_count++;
  cell->latency_sum_ns += latency_ns;
  __u32 bucket = syscost_bucket_of(latency_ns);
  if (bucket < SYSCOST_BUCKETS) cell->buckets[bucket]++;
}

// An exit whose enter we did not see. `first` = nothing at all was seen of this thread before.
static __always_inline void handle_unpaired(struct pt_regs* regs, long result, struct thread_state* thread, bool first,
                                            struct syscost_cpu* cpu) {
  __u64 index = syscall_index((long)(int)regs->orig_ax);
  // A newborn thread's first event is its parent's clone, returning 0 in the child.
  if (first && result == 0 && makes_a_child(index)) return;
  __u64 control;
  __u32 lane = current_lane(thread, &control);
  if (!control) return;
  struct task_struct* task = bpf_get_current_task_btf();
  bool filtered = task->seccomp.mode != 0;
  __u32 slot = slot_of(index);
  if (slot == SYSCOST_NOT_SELECTED) return;
  __u32 shard = shard_index(control, lane);
  struct syscost_cell* cell = cell_at(shard, slot);
  struct syscost_shard* bank = shard_at(shard);
  if (slot >= SYSCOST_SLOTS || !cell || !bank || (first == filtered)) {
    // Either no room, or an exit that has two explanations: a thread never seen before under a seccomp filter, or a
    // seen one without a filter (a tracer skipped its call).
    cpu->lost_exit++;
    return;
  }
  mark(bank->dirty_exit, slot);
  if (first) {
    cell->carried_in++;  // blocked since before we were attached
  } else {
    cell->denied++;
    count_error(bank, slot, result, cpu);
  }
}

static __always_inline void handle_exit(struct pt_regs* regs, long result, struct syscost_cpu* cpu) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread_state* thread = bpf_task_storage_get(&threads, task, 0, 0);
  if (!thread) {
    thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!thread) {
      if (READ_ONCE(lanes[0].control)) cpu->lost_exit++;
      return;
    }
    handle_unpaired(regs, result, thread, true, cpu);
    return;
  }
  __u16 pending = thread->pending;
  thread->pending = PENDING_NONE;
  if (pending == PENDING_OURS) {
    __sync_fetch_and_add(&directory.canaries_returned, 1);
    return;
  }
  if (pending == PENDING_IGNORED) {
    if (result == -ERESTART_RESTARTBLOCK) thread->pending = PENDING_RESUMABLE;
    return;
  }
  if (pending != PENDING_INSIDE) {
    handle_unpaired(regs, result, thread, false, cpu);
    return;
  }
  __u64 entered = thread->control;
  __u64 control;
  __u32 lane = current_lane(thread, &control);
  if (!entered) {
    // Entered while nothing was armed.
    if (!control) return;
    __u32 slot = slot_of(syscall_index((long)(int)regs->orig_ax));
    if (slot == SYSCOST_NOT_SELECTED) return;
    __u32 shard = shard_index(control, lane);
    struct syscost_cell* cell = cell_at(shard, slot);
    struct syscost_shard* bank = shard_at(shard);
    if (slot >= SYSCOST_SLOTS || !cell || !bank) {
      cpu->lost_exit++;
      return;
    }
    mark(bank->dirty_exit, slot);
    cell->carried_in++;
    return;
  }

  __u64 latency_ns = bpf_ktime_get_ns() - thread->enter_ns;
  __u32 slot = thread->slot;
  // After rt_sigreturn the result is the interrupted code's register, not a result.
  bool sigreturn = result < 0 && (int)regs->orig_ax == -1 && is_sigreturn(slot);
  bool unresolved = !sigreturn && is_restart_code(result);
  if (entered != control) {
    if (unresolved) {
      thread->pending = PENDING_UNRESOLVED;
      thread->restart_code = (__u16)-result;
      thread->latency_ns = latency_ns ? latency_ns : 1;
    } else if (control) {
      bool failed = !sigreturn && result < 0 && result >= -MAX_ERRNO;
      thread->latency_ns = latency_ns;
      log_crossing(thread, control, lane, SYSCOST_OUTCOME_CALL, false, failed ? (__s32)-result : 0);
    }
    return;
  }
  __u32 shard = shard_index(control, thread->entered_lane);
  struct syscost_cell* cell = cell_at(shard, slot);
  struct syscost_shard* bank = shard_at(shard);
  if (!cell || !bank) {
    cpu->lost_exit++;
    return;
  }
  mark(bank->dirty_exit, slot);
  count_latency(cell, latency_ns);
  if (unresolved) {
    thread->pending = PENDING_UNRESOLVED;
    thread->restart_code = (__u16)-result;
    thread->latency_ns = 0;  // already counted
    return;
  }
  cell->calls++;
  if (!sigreturn) count_error(bank, slot, result, cpu);
}

SEC("tp_btf/sys_exit")
int on_sys_exit(__u64* ctx) {
  if (!is_target()) return 0;
  struct syscost_cpu* cpu = this_cpu();
  if (!cpu) return 0;
  begin_program(&cpu->exit_sequence);
  handle_exit((struct pt_regs*)ctx[0], (long)ctx[1], cpu);
  end_program(&cpu->exit_sequence);
  return 0;
}

// ---- signal_deliver -------------------------------------------------------------------------------------------------

static __always_inline void handle_deliver(struct k_sigaction* action, struct syscost_cpu* cpu) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread_state* thread = bpf_task_storage_get(&threads, task, 0, 0);
  if (!thread || thread->pending != PENDING_UNRESOLVED) return;
  // Only a handler decides; an ignored, stopping or fatal signal leaves the call to restart or to die.
  __u64 handler = (__u64)action->sa.sa_handler;
  if (handler <= 1) return;
  __u16 code = thread->restart_code;
  bool restarts = code == ERESTARTNOINTR || (code == ERESTARTSYS && (action->sa.sa_flags & SA_RESTART));
  thread->pending = PENDING_NONE;
  if (!thread->control) return;
  __u64 control;
  __u32 lane = current_lane(thread, &control);
  if (thread->control != control) {
    if (control) {
      log_crossing(thread, control, lane, restarts ? SYSCOST_OUTCOME_RESTART : SYSCOST_OUTCOME_CALL,
                   thread->latency_ns == 0, restarts ? 0 : EINTR);
    }
    return;
  }
  __u32 shard = shard_index(control, thread->entered_lane);
  struct syscost_cell* cell = cell_at(shard, thread->slot);
  struct syscost_shard* bank = shard_at(shard);
  if (!cell || !bank) {
    cpu->lost_deliver++;
    return;
  }
  mark(bank->dirty_deliver, thread->slot);
  if (restarts) {
    cell->restarts_handler++;
  } else {
    cell->interrupted++;
  }
}

SEC("tp_btf/signal_deliver")
int on_signal_deliver(__u64* ctx) {
  if (!is_target()) return 0;
  struct syscost_cpu* cpu = this_cpu();
  if (!cpu) return 0;
  begin_program(&cpu->deliver_sequence);
  handle_deliver((struct k_sigaction*)ctx[2], cpu);
  end_program(&cpu->deliver_sequence);
  return 0;
}

// ---- identity -------------------------------------------------------------------------------------------------------

// Run once by the process itself (BPF_PROG_TEST_RUN): tells which process that is, whatever getpid() says in its PID
// namespace.
SEC("raw_tp/sys_enter")
int identify(void* ctx) {
  target_tgid = bpf_get_current_pid_tgid() >> 32;
  return 0;
}
