// SPDX-License-Identifier: MIT OR GPL-2.0
//
// The directory: a syscall, and a (syscall, errno) pair, gets a slot when it is first seen, so that memory follows what
// a run calls and not what a kernel offers. Slots are never given back while a run lasts.
#pragma once

#include "state.bpf.h"
#include "syscall_numbers.bpf.h"

static __always_inline __u32 allocate_slot(struct syscost_directory* directory, __u64 syscall) {
  if (READ_ONCE(directory->slots_used) >= SYSCOST_SLOTS) return SYSCOST_NO_SLOT;
  __u32 fresh = __sync_fetch_and_add(&directory->slots_used, 1);
  if (fresh >= SYSCOST_SLOTS) return SYSCOST_NO_SLOT;
  AT(directory->syscall_of, fresh) = syscall;
  return fresh;
}

// Numbers beyond the tables are rare and never valid, so a search through the slots finds them. If two CPUs see a new
// number at the same time, it gets two slots. The process adds them up.
static __noinline __u32 slot_of_unlisted(struct syscost_directory* directory, __u64 syscall) {
  for (__u32 slot = 0; slot < SYSCOST_SLOTS; ++slot) {
    if (slot >= READ_ONCE(directory->slots_used)) break;
    if (AT(directory->syscall_of, slot) == syscall) return slot;
  }
  return allocate_slot(directory, syscall);
}

// The slot of a syscall, allocated when it is first seen. Returns SYSCOST_NO_SLOT when there is none left and
// SYSCOST_NOT_SELECTED when the syscall is not to be counted.
static __always_inline __u32 slot_of(struct syscost_directory* directory, __u64 index) {
  if (index >= SYSCOST_INDEXES)
    return directory->ignores_unlisted ? SYSCOST_NOT_SELECTED : slot_of_unlisted(directory, index);
  __u32 known = READ_ONCE(AT(directory->slot_of, index));
  if (known == SYSCOST_NOT_SELECTED) return known;
  if (known) return known - 1;
  __u32 fresh = allocate_slot(directory, (index / SYSCOST_NUMBERS) << 32 | (index % SYSCOST_NUMBERS));
  if (fresh == SYSCOST_NO_SLOT) return fresh;
  __u32 other = __sync_val_compare_and_swap(&AT(directory->slot_of, index), 0, fresh + 1);
  return other ? other - 1 : fresh;
}

static __always_inline __u32 allocate_error_slot(struct syscost_directory* directory, __u32 slot, __u32 error) {
  if (READ_ONCE(directory->error_slots_used) >= SYSCOST_ERROR_SLOTS) return SYSCOST_ERROR_SLOTS;
  __u32 fresh = __sync_fetch_and_add(&directory->error_slots_used, 1);
  if (fresh >= SYSCOST_ERROR_SLOTS) return SYSCOST_ERROR_SLOTS;
  AT(directory->error_of, fresh) = slot << 16 | error;
  return fresh;
}

// An errno outside the table (a seccomp filter may return any up to 4095), or one of a detail. A search through the
// slots finds it.
static __noinline __u32 slot_of_unlisted_error(struct syscost_directory* directory, __u32 slot, __u32 error) {
  for (__u32 i = 0; i < SYSCOST_ERROR_SLOTS; ++i) {
    if (i >= READ_ONCE(directory->error_slots_used)) break;
    if (AT(directory->error_of, i) == (slot << 16 | error)) return i;
  }
  return allocate_error_slot(directory, slot, error);
}

static __always_inline __u32 error_slot_of(struct syscost_directory* directory, __u32 slot, __u32 error) {
  if (error >= SYSCOST_ERRNOS || (with_details && slot >= SYSCOST_SLOTS)) {
    return slot_of_unlisted_error(directory, slot, error);
  }
  __u32 index = slot * SYSCOST_ERRNOS + error;
  if (index >= SYSCOST_SLOTS * SYSCOST_ERRNOS) return SYSCOST_ERROR_SLOTS;
  __u32 known = READ_ONCE(AT(directory->error_slot_of, index));
  if (known) return known - 1;
  __u32 fresh = allocate_error_slot(directory, slot, error);
  if (fresh >= SYSCOST_ERROR_SLOTS) return SYSCOST_ERROR_SLOTS;
  __u32 other = __sync_val_compare_and_swap(&AT(directory->error_slot_of, index), 0, fresh + 1);
  return other ? other - 1 : fresh;
}
