// SPDX-License-Identifier: MIT OR GPL-2.0
//
// How many bytes a call moved or mapped, and whether it opened a file of the kernel. A table says for each syscall
// where the number comes from. What is in an argument is kept in the thread's state when the call enters: at its end
// the registers may have changed. Only openat2 is read at its end (asked_how()).
#pragma once

#include "syscall_numbers.bpf.h"
// Above first: libbpf's headers use the types.
#include <bpf/bpf_core_read.h>

#include "../../../core/tables/byte_sources.h"

// By index (syscall_index). 8 bits each, enum syscost_byte_source.
#define SYSCOST_BYTES(abi, number, way, source, files) [(abi)*SYSCOST_NUMBERS + (number)] = SYSCOST_BYTES_##source,
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winitializer-overrides"
static const __u8 byte_sources[SYSCOST_INDEXES] = {
#include "../../../core/tables/bytes_moved.inc"
#define SYSCOST_UNSAID(abi, number) [(abi)*SYSCOST_NUMBERS + (number)] = SYSCOST_BYTES_UNSAID,
    SYSCOST_UNSAID_MAPPINGS(SYSCOST_UNSAID)};
#pragma clang diagnostic pop
#undef SYSCOST_UNSAID
#undef SYSCOST_BYTES

static __always_inline bool is_i386(__u64 index) {
  return index - SYSCOST_NUMBERS < SYSCOST_NUMBERS;
}

// The path of an open that can read the file, else 0; and in bit 63, which no path has, whether its writes are synced.
#define ASKED_SYNC 63
static __always_inline __u64 asked_open(__u64 path, __u64 flags) {
  __u64 read = (flags & SYSCOST_OPEN_MODE) == SYSCOST_OPEN_TO_WRITE ? 0 : path & ~(1ULL << ASKED_SYNC);
  return read | (__u64)SYSCOST_SYNCS_WRITES(flags) << ASKED_SYNC;
}

static __noinline __u64 rarely_asked(struct task_struct* task, struct pt_regs* regs, __u64 index, __u32 source) {
  bool compat = is_i386(index);
  __u64 second = compat ? (__u32)regs->cx : regs->si;
  __u64 third = compat ? (__u32)regs->dx : regs->dx;
  __u64 fourth = compat ? (__u32)regs->si : regs->r10;
  switch (source) {
    case SYSCOST_BYTES_OPENS_1:
      return asked_open(compat ? (__u32)regs->bx : regs->di, second);
    case SYSCOST_BYTES_OPENS_2:
      return asked_open(second, third);
    case SYSCOST_BYTES_OPENS_HOW:
      return second;
    case SYSCOST_BYTES_SIZE_2:
      return second;
    case SYSCOST_BYTES_SIZE_4:
      return fourth;
    case SYSCOST_BYTES_SIZE_5:
      return compat ? (__u32)regs->di : regs->r8;
    case SYSCOST_BYTES_LENGTH:
    case SYSCOST_BYTES_RELEASE:
      return SYSCOST_WHOLE_PAGES(second);
    case SYSCOST_BYTES_REMAP:
      return SYSCOST_WHOLE_PAGES(third) - (fourth & SYSCOST_REMAP_KEEPS_OLD ? 0 : SYSCOST_WHOLE_PAGES(second));
    case SYSCOST_BYTES_BREAK: {
      __u64 before = BPF_CORE_READ(task, mm, brk);
      return SYSCOST_WHOLE_PAGES(before);
    }
    default:
      return 0;
  }
}

static __always_inline void note_asked_bytes(struct task_struct* task, struct pt_regs* regs, __u64 index,
                                             struct thread_state* thread) {
  __u32 source = index < SYSCOST_INDEXES ? AT(byte_sources, index) : SYSCOST_BYTES_NONE;
  thread->byte_source = (__u8)source;
  if (source <= SYSCOST_BYTES_RESULT) return;
  if (source == SYSCOST_BYTES_SIZE_3) {
    thread->asked = is_i386(index) ? (__u32)regs->dx : regs->dx;
  } else {
    thread->asked = rarely_asked(task, regs, index, source);
  }
}

// After a call of the process itself, with what note_asked_bytes() noted: the most memory that it has mapped. What
// calls ask for does not say it, because a mapping may replace another one. munmap alone maps none.
static __noinline void note_mapped_pages(struct task_struct* task, struct syscost_cpu* cpu) {
  __u64 pages = BPF_CORE_READ(task, mm, total_vm);
  if (pages > cpu->most_pages) cpu->most_pages = pages;
}

static __always_inline bool maps_memory(const struct thread_state* thread) {
  return thread->byte_source >= SYSCOST_BYTES_LENGTH && thread->byte_source != SYSCOST_BYTES_RELEASE;
}

// After an open that succeeded. The kernel has just read the path. True, too, if it cannot be read any more.
static __noinline bool may_name_kernel_file(__u64 path) {
  char text[8] = {};
  if (bpf_probe_read_user_str(text, sizeof text, (const void*)path) < 0) return true;
  return SYSCOST_NAMES_KERNEL_FILE(text);
}

// `second`: 1 for a short call, or the bytes that were released. Of an open, `bytes` is 1 with O_SYNC, and `second` is
// 1 for a file of the kernel.
struct byte_count {
  __u64 bytes;
  __u64 second;
};

// After an openat2 that succeeded: its third argument points to the flags, which the kernel has just read. At the
// call's begin their page may not be in memory yet. Nothing but a tracer changes the register in between.
static __noinline __u64 asked_how(__u64 path, struct task_struct* task, struct pt_regs* regs) {
  __u64 how = task->thread_info.status & TS_COMPAT ? (__u32)regs->dx : regs->dx;
  __u64 flags;
  if (bpf_probe_read_user(&flags, sizeof flags, (const void*)how) < 0) flags = 0;
  return asked_open(path, flags);
}

// Of a call that entered with note_asked_bytes() and ended with `result`. Nothing for one that failed.
static __always_inline struct byte_count bytes_of(const struct thread_state* thread, struct task_struct* task,
                                                  struct pt_regs* regs, long result) {
  struct byte_count count = {};
  __u32 source = thread->byte_source;
  if (source == SYSCOST_BYTES_NONE || (result < 0 && result >= -4095)) return count;
  __s64 growth;
  __u64 asked = thread->asked;
  __u64 path;
  switch (source) {
    case SYSCOST_BYTES_OPENS_HOW:
      asked = asked_how(asked, task, regs);
      __attribute__((fallthrough));
    case SYSCOST_BYTES_OPENS_1:
    case SYSCOST_BYTES_OPENS_2:
      path = asked & ~(1ULL << ASKED_SYNC);
      count.bytes = asked >> ASKED_SYNC;
      count.second = path && may_name_kernel_file(path);
      return count;
    case SYSCOST_BYTES_LENGTH:
      count.bytes = thread->asked;
      return count;
    case SYSCOST_BYTES_RELEASE:
      count.second = thread->asked;
      return count;
    case SYSCOST_BYTES_UNSAID:
      return count;
    case SYSCOST_BYTES_REMAP:
      growth = (__s64)thread->asked;
      break;
    case SYSCOST_BYTES_BREAK:
      growth = (__s64)(SYSCOST_WHOLE_PAGES((__u64)result) - thread->asked);
      break;
    default:
      count.bytes = (__u64)result;
      count.second = source != SYSCOST_BYTES_RESULT && (__u64)result < thread->asked;
      return count;
  }
  if (growth >= 0) {
    count.bytes = (__u64)growth;
  } else {
    count.second = (__u64)-growth;
  }
  return count;
}
