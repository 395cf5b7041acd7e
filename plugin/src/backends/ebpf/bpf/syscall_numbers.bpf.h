// SPDX-License-Identifier: MIT OR GPL-2.0
//
// The syscalls with events of a special meaning, in the three ABIs of x86: those that never return, those that
// return twice, and the kernel's own restart_syscall and rt_sigreturn.
// Source of the numbers: arch/x86/entry/syscalls/syscall_{64,32}.tbl.
#pragma once

#include "state.bpf.h"

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

#define TS_COMPAT 0x0002    // arch/x86/include/asm/thread_info.h: the syscall came by int $0x80
#define X32_BIT 0x40000000  // arch/x86/include/uapi/asm/unistd.h

// Which syscall: an index into slot_of, or SYSCOST_INDEXES and more for numbers beyond every table.
#define SYSCOST_INDEXES (SYSCOST_ABIS * SYSCOST_NUMBERS)
static __always_inline __u64 syscall_index(struct task_struct* task, long number) {
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

// A syscall in the form of the directories: abi << 32 | number; bit 63: a number beyond the tables.
static __always_inline __u64 syscall_at(__u64 index) {
  return index >= SYSCOST_INDEXES ? index : (index / SYSCOST_NUMBERS) << 32 | (index % SYSCOST_NUMBERS);
}

static __always_inline bool never_returns(__u64 index) {
  return index == NR_EXIT || index == NR_EXIT_GROUP || index == SYSCOST_NUMBERS + NR_I386_EXIT ||
         index == SYSCOST_NUMBERS + NR_I386_EXIT_GROUP || index == 2 * SYSCOST_NUMBERS + NR_EXIT ||
         index == 2 * SYSCOST_NUMBERS + NR_EXIT_GROUP;
}

static __always_inline bool is_restart_syscall(__u64 index) {
  return index == NR_RESTART_SYSCALL || index == SYSCOST_NUMBERS + NR_I386_RESTART_SYSCALL ||
         index == 2 * SYSCOST_NUMBERS + NR_RESTART_SYSCALL;
}

static __always_inline bool makes_a_child(__u64 index) {
  return index == NR_CLONE || index == NR_CLONE3 || index == NR_FORK || index == NR_VFORK ||
         index == SYSCOST_NUMBERS + NR_I386_CLONE || index == SYSCOST_NUMBERS + NR_CLONE3 ||
         index == SYSCOST_NUMBERS + NR_I386_FORK || index == SYSCOST_NUMBERS + NR_I386_VFORK;
}

static __always_inline bool is_sigreturn_call(__u64 syscall) {
  return syscall == NR_RT_SIGRETURN || syscall == (1ULL << 32 | NR_I386_RT_SIGRETURN) ||
         syscall == (1ULL << 32 | NR_I386_SIGRETURN) || syscall == (2ULL << 32 | NR_X32_RT_SIGRETURN);
}

static __always_inline bool is_sigreturn(const struct syscost_directory* directory, __u32 slot) {
  if (with_details && slot >= SYSCOST_SLOTS && slot - SYSCOST_SLOTS < SYSCOST_DETAIL_SLOTS) {
    slot = AT(directory->details, slot - SYSCOST_SLOTS).slot;
  }
  if (slot >= SYSCOST_SLOTS) return false;
  return is_sigreturn_call(AT(directory->syscall_of, slot));
}
