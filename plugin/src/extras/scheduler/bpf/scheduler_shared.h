/* SPDX-License-Identifier: MIT OR GPL-2.0
 *
 * What the BPF programs for the scheduler's events share with the measured process: one map besides those of
 * backends/ebpf/shared.h.
 */
#ifndef SYSCOST_EXTRAS_SCHEDULER_BPF_SCHEDULER_SHARED_H_
#define SYSCOST_EXTRAS_SCHEDULER_BPF_SCHEDULER_SHARED_H_

#include "../../../backends/ebpf/shared.h"

/* NOLINTBEGIN(readability-identifier-naming): C, as the BPF side writes it */

/* What the scheduler did with a thread of the process (scheduler.bpf.h). */
enum syscost_scheduler_event_kind {
  SYSCOST_THREAD_RUNS = 1,      /* it got a CPU */
  SYSCOST_THREAD_PREEMPTED = 2, /* it lost the CPU, or gave it away, and can run */
  SYSCOST_THREAD_BLOCKS = 3,    /* it left the CPU until something wakes it */
  SYSCOST_THREAD_ENDS = 4,
  SYSCOST_THREAD_WOKEN = 5, /* from here on it can run */
  SYSCOST_THREAD_CREATED = 6,
};

/* What woke or created it. */
enum syscost_waker {
  SYSCOST_WAKER_UNKNOWN = 0,
  SYSCOST_WAKER_THREAD = 1, /* of the same process */
  SYSCOST_WAKER_OTHER_PROCESS = 2,
  SYSCOST_WAKER_KERNEL_THREAD = 3,
  SYSCOST_WAKER_INTERRUPT = 4, /* a timer or a device: the thread that it interrupted is no waker */
};

/* The syscall that a thread is in: abi << 24 | number; a number beyond the tables is 0xffffff. */
#define SYSCOST_SHORT_SYSCALL(abi, number) ((abi) << 24 | (number))
#define SYSCOST_SHORT_UNKNOWN 0xffffffU
#define SYSCOST_NO_SYSCALL (~0U)

struct syscost_scheduler_event {
  __u64 sequence;  /* index + 1, written last: the event is whole */
  __u64 at_ns;     /* CLOCK_MONOTONIC */
  __u32 thread;    /* the kernel's number, which a namespace may show as another one */
  __u32 thread_id; /* as gettid() says it; 0 = the thread has none any more */
  __u32 syscall;   /* of the thread */
  __u32 waker;     /* of the same process; the next three as for the thread */
  __u32 waker_id;
  __u32 waker_syscall;
  __u8 kind;
  __u8 waker_kind;
  __u8 padding[6];
  char name[16]; /* of the thread */
};
SYSCOST_STATIC_ASSERT(sizeof(struct syscost_scheduler_event) == 64, "no hidden padding");

struct syscost_scheduler_head {
  __u64 produced; /* programs, atomically; with the events that found no room */
  __u64 consumed; /* the process, while nothing is armed: the event of this index stands first */
  __u64 padding[6];
};

/* Element 0 of the map is the head, the others are events, in the order in which they were begun. */
union syscost_scheduler_block {
  struct syscost_scheduler_head head;
  struct syscost_scheduler_event event;
};
SYSCOST_STATIC_ASSERT(sizeof(union syscost_scheduler_block) == 64, "no hidden padding");

/* NOLINTEND(readability-identifier-naming) */

#endif
