/* SPDX-License-Identifier: MIT OR GPL-2.0
 *
 * The map that the BPF programs and a measured process share by mmap: layout, limits, meanings.
 *
 * Each measured process has a map of its own, an array of blocks: its head, then the log, then the banks. Both sides
 * compile this file; sizes are asserted on both. Rules of access:
 * - a cell is written by programs only, and cleared by the process only while no program can reach its bank;
 * - every field of a cell belongs to one program (named beside it), so that a program that interrupts another one on
 *   the same CPU never loses an update, and plain additions suffice;
 * - the process writes `lanes` and `log_consumed`, and, while nothing is armed, what is not selected and what is noted
 *   of mapped memory; nothing else.
 *
 * The programs may be shared with processes of other users. They trust nothing that is written here: a process that
 * writes nonsense spoils only its own counts.
 */
#ifndef SYSCOST_BACKENDS_EBPF_SHARED_H_
#define SYSCOST_BACKENDS_EBPF_SHARED_H_

#ifdef __cplusplus
#include <linux/types.h>
#define SYSCOST_STATIC_ASSERT static_assert
#else
#define SYSCOST_STATIC_ASSERT _Static_assert
#endif

enum {
  SYSCOST_BANKS = 2,         /* a segment is read while the next one counts */
  SYSCOST_LANES = 17,        /* 0 = every thread outside a thread scope; 1..16 = threads inside one */
  SYSCOST_SLOTS = 128,       /* distinct syscalls of a run; more are counted as lost */
  SYSCOST_ERROR_SLOTS = 512, /* distinct (syscall, errno) pairs of a run; more are counted as lost */
  SYSCOST_BUCKETS = 304,     /* syscost/histogram.h */
  SYSCOST_NUMBERS = 1024,    /* syscall numbers per ABI that have a table entry; others are found by search */
  SYSCOST_ABIS = 3,          /* x86_64, i386, x32 */
  SYSCOST_ERRNOS = 256,      /* errnos that have a table entry of their own; others are found by search */
  SYSCOST_LOG_BLOCKS = 4,
  SYSCOST_LOG_BLOCK_RECORDS = 4096,
  SYSCOST_LOG_RECORDS = SYSCOST_LOG_BLOCKS * SYSCOST_LOG_BLOCK_RECORDS, /* boundary-crossing calls, not yet read */
  SYSCOST_MAX_CPUS = 1024,    /* possible CPUs; more are refused at start-up */
  SYSCOST_DETAIL_SLOTS = 256, /* distinct details of a run's calls; further calls are counted without */
  SYSCOST_RULES = 32,         /* where requests have details in their arguments */
  SYSCOST_THREAD_NAMES = 8,   /* beginnings of the names of drivers' threads */
  SYSCOST_DIRTY_WORDS = 8,    /* a power of two, 64 slots each: all slots, of which few runs use the second half */
  SYSCOST_ERROR_DIRTY_WORDS = SYSCOST_ERROR_SLOTS / 64,
  SYSCOST_PROCESSES = 256,       /* measured at once by one pair of programs; of each, the map is found by its index */
  SYSCOST_TARGET_BUCKETS = 1024, /* by tgid */
  SYSCOST_TARGET_WAYS = 4,
  SYSCOST_FIRST_SLOT_OF_GROUPS = 4096, /* from here on, slots are those of groups of further programs */
};

/* Which segment the calls of a lane belong to: generation << 8 | bank; 0 = disarmed. */
#define SYSCOST_CONTROL(generation, bank) (((generation) << 8) | (bank))
#define SYSCOST_CONTROL_GENERATION(control) ((control) >> 8)
#define SYSCOST_CONTROL_BANK(control) ((control) & (SYSCOST_BANKS - 1))
/* For lanes 1..: the thread is in no scope of its own, its calls are lane 0's. */
#define SYSCOST_FOLLOW_PROCESS (~0ULL)

/* In directory.slot_of: syscalls of this number are not counted. */
#define SYSCOST_NOT_SELECTED (~0U)
/* What slot_of() answers when all slots are taken. */
#define SYSCOST_NO_SLOT (~1U)

/* NOLINTBEGIN(readability-identifier-naming): C, as the BPF side writes it */
struct syscost_lane {
  __u64 control;
  __u64 owner; /* the thread's registration token; a thread with another token has lost the lane */
  /* By bank: the token of the thread that opened the process's windows, and when, by CLOCK_MONOTONIC. */
  __u64 opener[SYSCOST_BANKS];
  __u64 opened_ns[SYSCOST_BANKS];
  __u64 padding[2];
};

/* Which part of a request's argument says more about the call. The first rule applies that matches both the device and
 * the request. */
struct syscost_rule {
  __u32 device;
  __u32 device_mask;
  __u32 request;
  __u32 request_mask;
  __u16 command_at; /* offset of 32 bits in the argument; 0xffff = nowhere */
  __u16 status_at;  /* offset of 32 bits that are read when the call has succeeded; 0xffff = nowhere */
};
SYSCOST_STATIC_ASSERT(sizeof(struct syscost_rule) == 20, "no hidden padding");
#define SYSCOST_NOWHERE 0xffff

/* The beginning of a thread's name: its 16 bytes as two words, and which of their bits must be so. */
struct syscost_thread_name {
  __u64 bits[2];
  __u64 mask[2];
};

/* What tells calls of one syscall apart; the key of a detail slot. Values of `file`: core/syscall_id.h. */
struct syscost_detail {
  __u32 slot; /* the syscall's own */
  __u32 device;
  __u32 request;
  __u32 command;
  __u32 status;
  __u8 file;
  __u8 is_driver_thread;
  __u8 has_command;
  __u8 to;           /* as `file`, of the other file of a call that moves data between two */
  __u8 is_kind_only; /* of a call that moves data: nothing but `file` and `to` */
  __u8 padding[3];
};
SYSCOST_STATIC_ASSERT(sizeof(struct syscost_detail) == 28, "no hidden padding");

/* One syscall, or one detail of it, of one segment on one partition. */
struct syscost_cell {
  /* sys_enter */
  __u64 entries;
  __u64 restarts_plain; /* restarted without a handler: seen when the call enters again */
  __u64 no_return;      /* exit and exit_group */
  __u64 started;        /* of the entries: by threads that began after the windows were opened */
  __u64 older;          /* by others than those and the opener */
  /* sys_exit */
  __u64 calls;
  __u64 carried_in;
  __u64 denied;
  __u64 latency_count;
  __u64 latency_sum_ns;
  __u64 latency_min_ns;
  __u64 latency_max_ns;
  /* signal_deliver */
  __u64 interrupted;      /* ended with EINTR: a call */
  __u64 restarts_handler; /* SA_RESTART */
  /* sys_exit: entries that turned out to belong to another detail, known by the driver's status */
  __u64 moved_out;
  __u64 moved_in;
  /* sys_exit: what calls moved or mapped, and their second number: short calls, or what they unmapped */
  __u64 bytes;
  __u64 bytes_second;
  __u64 buckets[SYSCOST_BUCKETS]; /* sys_exit */
};
SYSCOST_STATIC_ASSERT(sizeof(struct syscost_cell) == 144 + 8 * SYSCOST_BUCKETS, "no hidden padding");

/* What one partition counts in one bank: which cells were touched, the cells, the errors. A partition is a CPU (lane 0)
 * or a lane. */
struct syscost_bank {
  __u64 dirty_enter[SYSCOST_DIRTY_WORDS];   /* sys_enter */
  __u64 dirty_exit[SYSCOST_DIRTY_WORDS];    /* sys_exit */
  __u64 dirty_deliver[SYSCOST_DIRTY_WORDS]; /* signal_deliver */
  __u64 dirty_errors[SYSCOST_ERROR_DIRTY_WORDS];
  __u64 errors[SYSCOST_ERROR_SLOTS]; /* sys_exit */
  struct syscost_cell cells[SYSCOST_SLOTS];
};

/* Per CPU: which program runs there now, and what could not be recorded. A sequence is odd while its program runs. */
struct syscost_cpu {
  __u64 enter_sequence;
  __u64 lost_enter;
  __u64 padding0[6];
  __u64 exit_sequence;
  __u64 lost_exit;
  __u64 most_pages; /* mapped after a counted call that maps memory, if the directory asks; cleared by the process */
  __u64 padding1[5];
  __u64 deliver_sequence;
  __u64 lost_deliver;
  __u64 padding2[6];
};
SYSCOST_STATIC_ASSERT(sizeof(struct syscost_cpu) == 192, "one cache line for each program");

enum syscost_outcome {
  SYSCOST_OUTCOME_CALL = 1,
  SYSCOST_OUTCOME_RESTART = 2,
  SYSCOST_OUTCOME_NO_RETURN = 3, /* a child was killed in it */
};

/* A call that entered in one generation and ended in another. */
struct syscost_log_record {
  __u64 sequence;   /* index + 1, written last: the record is whole */
  __u64 entered_in; /* generations */
  __u64 returned_in;
  __u64 latency_ns;
  __u64 bytes; /* as in a cell */
  __u64 bytes_second;
  __u32 slot;
  __u8 lane;          /* on which it entered */
  __u8 returned_lane; /* on which it ended */
  __u8 outcome;
  __u8 latency_counted; /* 1: the latency already stands in the segment's cell */
  __s32 error;          /* errno, 0 = success */
  __u32 padding0;
};
SYSCOST_STATIC_ASSERT(sizeof(struct syscost_log_record) == 64, "no hidden padding");

struct syscost_log_block {
  struct syscost_log_record records[SYSCOST_LOG_BLOCK_RECORDS];
};

/* What a run met so far. */
struct syscost_directory {
  __u64 log_produced;      /* programs, atomically */
  __u64 log_consumed;      /* the process */
  __u64 log_lost;          /* programs, atomically */
  __u64 canaries_entered;  /* programs, atomically: registration calls seen, one each: they prove how we are attached */
  __u64 canaries_returned; /* programs, atomically */
  __u64 entered_twice;     /* programs, atomically: calls that a thread entered without having left the one before */
  __u64 unresolved;        /* programs, atomically: calls that ended with a restart code */
  __u64 threads_seen;      /* programs, atomically: threads of the process that were ever seen */
  __u64 registered_ns;     /* programs: by CLOCK_MONOTONIC, when a thread last made its registration call */
  __u64 is_alone;          /* programs: the last registration call was made by the only thread, under no filter */
  __u32 slots_used;
  __u32 error_slots_used;
  __u32 slot_of[SYSCOST_ABIS * SYSCOST_NUMBERS];       /* slot + 1; 0 = not seen yet; SYSCOST_NOT_SELECTED */
  __u64 syscall_of[SYSCOST_SLOTS];                     /* abi << 32 | number; bit 63: a number beyond the tables */
  __u32 error_slot_of[SYSCOST_SLOTS * SYSCOST_ERRNOS]; /* slot + 1 */
  __u32 error_of[SYSCOST_ERROR_SLOTS];                 /* syscall slot << 16 | errno */
  __u32 ignores_unlisted;                              /* numbers beyond slot_of are not counted */
  __u32 attach_epoch;                                  /* the process: which attachment this is, counted from 0 */
  __u32 notes_mapped;                                  /* the process: programs shall note most_pages */
  __u32 details_used;                                  /* of `details`; may exceed its size */
  struct syscost_detail details[SYSCOST_DETAIL_SLOTS]; /* of slot SYSCOST_SLOTS + index */
};

struct syscost_head {
  struct syscost_lane lanes[SYSCOST_LANES];
  struct syscost_cpu cpus[SYSCOST_MAX_CPUS];
  struct syscost_directory directory;
};

/* An element of a process's map. A map has elements of one size; the kernel inserts a map among those that the programs
 * can reach in milliseconds, so there is one of them for each process and not three. */
union syscost_block {
  struct syscost_head head;     /* block 0 */
  struct syscost_log_block log; /* SYSCOST_LOG_BLOCKS of them */
  struct syscost_bank bank;     /* [bank][partition] */
};
#define SYSCOST_FIRST_LOG_BLOCK 1
#define SYSCOST_FIRST_BANK (SYSCOST_FIRST_LOG_BLOCK + SYSCOST_LOG_BLOCKS)

/* Where each process counts. A process enrols itself by calling gettid(cookie, token); the cookie's low byte says which
 * map it was given. Not in that map: written by the process that loaded the programs, and by the programs. */
struct syscost_enrolment {
  __u64 cookie;  /* 0 = of no process */
  __u64 start;   /* of the one process that ever said the cookie, in ns since boot; its number may become another's */
  __u32 serial;  /* which process that is, of all that ever were */
  __u32 refusal; /* enum syscost_refusal, of the last time that the cookie was said */
  __u64 program; /* which program the process executed last when it said the cookie, by the kernel's count of them */
};
SYSCOST_STATIC_ASSERT(sizeof(struct syscost_enrolment) == 32, "no hidden padding");

enum syscost_refusal {
  SYSCOST_NOT_REFUSED = 0,
  SYSCOST_REFUSED_SECOND = 1,   /* another process, or another program of this one, has said the cookie before */
  SYSCOST_REFUSED_FULL = 2,     /* no room in the bucket of its number */
  SYSCOST_REFUSED_ENROLLED = 3, /* the process is enrolled by another cookie */
};
#define SYSCOST_COOKIE_PROCESS(cookie) ((cookie) & (SYSCOST_PROCESSES - 1))
/* What a child says to mark calls as ours (os/own_calls.h); a process that says its cookie enrols. */
#define SYSCOST_OWN_CALLS(cookie) (~(cookie))

/* Where a process's map is, in targets[tgid % buckets][any way]: tgid << 32 | index + 1; 0 = free. */
#define SYSCOST_TARGET(tgid, process) ((__u64)(tgid) << 32 | ((process) + 1))
#define SYSCOST_TARGET_TGID(target) ((target) >> 32)
#define SYSCOST_TARGET_PROCESS_PLUS_1(target) ((target)&0xffffffffU)

/* NOLINTEND(readability-identifier-naming) */

/* Log-linear bucket of a latency. The programs have no instruction that counts leading zeros, so it is found by
 * halving; histogram_bucket() in syscost/histogram.h is the same function, and a test compares them. */
static inline __attribute__((always_inline)) __u32 syscost_bucket_of(__u64 ns) {
  __u32 low_bits = ns & 7;
  if (ns < 8) return low_bits;
  if (ns >= 1ULL << 40) return SYSCOST_BUCKETS - 1;
  __u64 rest = ns;
  __u32 exponent = 0;
  if (rest >= 1ULL << 32) exponent += 32, rest >>= 32;
  if (rest >= 1ULL << 16) exponent += 16, rest >>= 16;
  if (rest >= 1ULL << 8) exponent += 8, rest >>= 8;
  if (rest >= 1ULL << 4) exponent += 4, rest >>= 4;
  if (rest >= 1ULL << 2) exponent += 2, rest >>= 2;
  if (rest >= 1ULL << 1) exponent += 1;
  __u32 sub_bucket = (ns >> (exponent - 3)) & 7;
  return (exponent - 2) * 8 + sub_bucket;
}

#endif
