// SPDX-License-Identifier: MIT OR GPL-2.0
//
// Details: with --syscost_detail the calls of one syscall are counted apart: an ioctl by its request and by the file of
// its descriptor, a call that moves data by the kind of file, any call by whether a driver's thread makes it. Each
// detail has a slot of its own, with every count a syscall has.
//
// The detail is found when the call enters, in the kernel: a descriptor may stand for another file by the time the
// process could ask, and asking would be a syscall. Without the flag the verifier removes all of this code. A process
// with details has a pair of programs for itself, so the data here is of one process.
#pragma once

#include "directory.bpf.h"
// Above first: libbpf's headers use the types.
#include <bpf/bpf_core_read.h>

#include "../../../core/tables/byte_sources.h"
#include "../../../core/tables/terminals.h"

#define NR_IOCTL 16
#define S_IFMT 0170000
#define S_ANON_INODE (1 << 19)  // include/linux/fs.h, Linux 6.16: such an inode has the mode of a regular file
#define MINOR_BITS 20           // include/linux/kdev_t.h

// core/syscall_id.h, FileKind.
enum file_kind {
  FILE_BAD_DESCRIPTOR = 1,
  FILE_CHARACTER_DEVICE = 2,
  FILE_BLOCK_DEVICE = 3,
  FILE_REGULAR = 4,
  FILE_DIRECTORY = 5,
  FILE_PIPE = 6,
  FILE_SOCKET = 7,
  FILE_OTHER = 8,
  FILE_TERMINAL = 9,
};

// By index (syscall_index). 8 bits each, enum syscost_moving_files.
#define SYSCOST_BYTES(abi, number, way, source, files) [(abi)*SYSCOST_NUMBERS + (number)] = SYSCOST_FILES_##files,
static const __u8 moving_files[SYSCOST_INDEXES] = {
#include "../../../core/tables/bytes_moved.inc"
};
#undef SYSCOST_BYTES

static __always_inline __u8 kind_of(__u16 mode) {
  switch (mode & S_IFMT) {
    case 0020000:
      return FILE_CHARACTER_DEVICE;
    case 0060000:
      return FILE_BLOCK_DEVICE;
    case 0100000:
      return FILE_REGULAR;
    case 0040000:
      return FILE_DIRECTORY;
    case 0010000:
      return FILE_PIPE;
    case 0140000:
      return FILE_SOCKET;
    default:
      return FILE_OTHER;
  }
}

// Sets `device` of a device file.
static __always_inline __u8 describe_file(struct task_struct* task, __u32 fd, __u32* device) {
  struct fdtable* table = task->files->fdt;
  if (fd >= table->max_fds) return FILE_BAD_DESCRIPTOR;
  struct file* file = 0;
  bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
  if (!file) return FILE_BAD_DESCRIPTOR;
  struct inode* inode = BPF_CORE_READ(file, f_inode);
  __u8 kind = kind_of(BPF_CORE_READ(inode, i_mode));
  if (kind == FILE_CHARACTER_DEVICE || kind == FILE_BLOCK_DEVICE) *device = BPF_CORE_READ(inode, i_rdev);
  return kind == FILE_REGULAR && (BPF_CORE_READ(inode, i_flags) & S_ANON_INODE) ? FILE_OTHER : kind;
}

static __noinline __u8 kind_of_file(__u32 fd) {
  __u32 device = 0;
  __u8 kind = describe_file(bpf_get_current_task_btf(), fd, &device);
  return kind == FILE_CHARACTER_DEVICE && SYSCOST_IS_TERMINAL(device >> MINOR_BITS) ? FILE_TERMINAL : kind;
}

// The kinds of the files that the call moves data between.
static __always_inline void describe_kinds(struct pt_regs* regs, __u64 index, struct syscost_detail* detail) {
  __u32 files = index < SYSCOST_INDEXES ? AT(moving_files, index) : SYSCOST_FILES_NONE;
  if (files == SYSCOST_FILES_NONE) return;
  __u32 first = (__u32)regs->di;
  __u32 second = (__u32)regs->si;
  detail->is_kind_only = true;
  detail->file = kind_of_file(files == SYSCOST_FILES_2_TO_1 ? second : first);
  if (files == SYSCOST_FILES_1) return;
  detail->to = kind_of_file(files == SYSCOST_FILES_2_TO_1   ? first
                            : files == SYSCOST_FILES_1_TO_2 ? second
                                                            : (__u32)regs->dx);
}

// A program may have the name of a driver's threads. So a thread with the name of the main thread is not a driver's.
static __always_inline bool is_named_as_main(const __u64* name) {
  struct task_struct* task = bpf_get_current_task_btf();
  __u64 main_name[2] = {};
  bpf_probe_read_kernel_str(main_name, sizeof(main_name), &task->group_leader->comm);
  return main_name[0] == name[0] && main_name[1] == name[1];
}

static __always_inline bool is_driver_thread(void) {
  if (!thread_name_count) return false;
  __u64 name[2] = {};
  bpf_get_current_comm(name, sizeof(name));
  for (__u32 i = 0; i < SYSCOST_THREAD_NAMES; ++i) {
    if (i >= thread_name_count) break;
    const volatile struct syscost_thread_name* known = &AT(thread_names, i);
    if (((name[0] ^ known->bits[0]) & known->mask[0]) == 0 && ((name[1] ^ known->bits[1]) & known->mask[1]) == 0) {
      return !is_named_as_main(name);
    }
  }
  return false;
}

// The slot of a detail, allocated when it is first seen. If none is left, it is the slot of the syscall. If two CPUs
// see a new detail at the same time, it gets two slots. The process adds them up.
static __noinline __u32 slot_of_detail(struct syscost_directory* directory, const struct syscost_detail* detail) {
  const __u32* known = bpf_map_lookup_elem(&detail_slots, detail);
  if (known) return *known;
  if (READ_ONCE(directory->details_used) >= SYSCOST_DETAIL_SLOTS) return detail->slot;
  __u32 fresh = __sync_fetch_and_add(&directory->details_used, 1);
  if (fresh >= SYSCOST_DETAIL_SLOTS) return detail->slot;
  AT(directory->details, fresh) = *detail;
  __u32 slot = SYSCOST_SLOTS + fresh;
  bpf_map_update_elem(&detail_slots, detail, &slot, BPF_NOEXIST);
  return slot;
}

// The slot of the detail of a call; its syscall has `slot`. Remembers in `thread` where the driver's status will be.
static __noinline __u32 detailed_slot_of(struct syscost_directory* directory, struct pt_regs* regs, __u64 index,
                                         __u32 slot, struct thread_state* thread) {
  struct syscost_detail detail = {.slot = slot};
  thread->status_at = SYSCOST_NOWHERE;
  detail.is_driver_thread = is_driver_thread();
  if (details_ioctls && index == NR_IOCTL) {
    detail.request = (__u32)regs->si;
    detail.file = describe_file(bpf_get_current_task_btf(), (__u32)regs->di, &detail.device);
    for (__u32 i = 0; i < SYSCOST_RULES; ++i) {
      if (i >= rule_count) break;
      const volatile struct syscost_rule* rule = &AT(rules, i);
      if ((detail.device & rule->device_mask) != rule->device || detail.file != FILE_CHARACTER_DEVICE ||
          (detail.request & rule->request_mask) != rule->request) {
        continue;
      }
      if (rule->command_at != SYSCOST_NOWHERE) {
        const void* from = (const void*)(regs->dx + rule->command_at);
        detail.has_command = bpf_probe_read_user(&detail.command, sizeof(detail.command), from) == 0;
      }
      thread->status_at = rule->status_at;
      break;
    }
  }
  if (details_files) describe_kinds(regs, index, &detail);
  if (!detail.file && !detail.is_driver_thread) return slot;
  return slot_of_detail(directory, &detail);
}

// A call can succeed for the kernel, and the driver reports a failure in its argument. Such a call is a detail of its
// own. Its entry was counted before that was known, so the entry moves.
static __noinline __u32 slot_by_status(const struct process* process, struct syscost_bank* bank, __u32 partition,
                                       struct pt_regs* regs, const struct thread_state* thread) {
  struct syscost_directory* directory = &process->head->directory;
  __u32 slot = thread->slot;
  if (slot < SYSCOST_SLOTS || thread->status_at == SYSCOST_NOWHERE) return slot;
  __u32 status = 0;
  if (bpf_probe_read_user(&status, sizeof(status), (const void*)(regs->dx + thread->status_at)) || !status) return slot;
  __u32 index = slot - SYSCOST_SLOTS;
  if (index >= SYSCOST_DETAIL_SLOTS) return slot;
  struct syscost_detail failed = AT(directory->details, index);
  failed.status = status;
  __u32 other = slot_of_detail(directory, &failed);
  if (other < SYSCOST_SLOTS) return slot;
  struct syscost_cell* from = cell_at(bank, partition, slot);
  struct syscost_cell* to = cell_at(bank, partition, other);
  if (!from || !to) return slot;
  mark(bank->dirty_exit, slot);
  from->moved_out++;
  to->moved_in++;
  return other;
}
