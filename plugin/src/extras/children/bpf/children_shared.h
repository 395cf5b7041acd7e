/* SPDX-License-Identifier: MIT OR GPL-2.0
 *
 * What the BPF programs for children share with the measured process: two maps besides those of backends/ebpf/shared.h.
 * The rules of access there hold for these maps, too.
 */
#ifndef SYSCOST_EXTRAS_CHILDREN_BPF_CHILDREN_SHARED_H_
#define SYSCOST_EXTRAS_CHILDREN_BPF_CHILDREN_SHARED_H_

#include "../../../backends/ebpf/shared.h"

enum {
  SYSCOST_PROGRAMS = 32,      /* different programs among the children of a run; calls of more are counted as lost */
  SYSCOST_PROGRAM_NAME = 64,  /* with the zero at the end; longer ones are cut */
  SYSCOST_CHILD_SLOTS = 2048, /* distinct (program, syscall) pairs of children; more are counted as lost */
  SYSCOST_CHILD_ERROR_SLOTS = 1024, /* distinct (program, syscall, errno); more are counted as lost */
  /* What a child's call has for a slot, in log records too: from here, SYSCOST_CHILD_SLOTS of them. */
  SYSCOST_FIRST_CHILD_SLOT = SYSCOST_FIRST_SLOT_OF_GROUPS,
};

/* NOLINTBEGIN(readability-identifier-naming): C, as the BPF side writes it */

/* Of a child, if its program found no place among SYSCOST_PROGRAMS. */
#define SYSCOST_NO_PROGRAM (~0U)

/* What a syscall of a child is counted by; the key of its slot. */
struct syscost_child_call {
  __u64 syscall; /* as in syscall_of */
  __u32 program;
  __u32 padding;
};
struct syscost_child_error {
  __u32 slot; /* SYSCOST_FIRST_CHILD_SLOT and more */
  __u32 error;
};

struct syscost_child_bank {
  __u64 dirty[SYSCOST_CHILD_SLOTS / 64];
  __u64 dirty_errors[SYSCOST_CHILD_ERROR_SLOTS / 64];
  __u64 errors[SYSCOST_CHILD_ERROR_SLOTS];
};

/* What is known of the children of a process that counts them: a map of its own. Their cells are in another,
 * [bank][slot]: one for all CPUs, where programs add atomically. */
struct syscost_children {
  struct syscost_cpu cpus[SYSCOST_MAX_CPUS]; /* of the programs for children */
  __u64 lost_processes;                      /* atomically: born, and not followed for lack of memory */
  __u32 programs_used;                       /* of `names`; may exceed its size, as the next two */
  __u32 slots_used;
  __u32 error_slots_used;
  __u32 padding;
  char names[SYSCOST_PROGRAMS][SYSCOST_PROGRAM_NAME];
  struct syscost_child_call calls[SYSCOST_CHILD_SLOTS];
  struct syscost_child_error errors[SYSCOST_CHILD_ERROR_SLOTS];
  struct syscost_child_bank banks[SYSCOST_BANKS];
};

/* NOLINTEND(readability-identifier-naming) */

#endif
