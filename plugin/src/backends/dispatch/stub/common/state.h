// SPDX-License-Identifier: MIT
//
// The memory that the stub and the backend share: who is armed, under which segment, and the cells that calls are
// counted in.
//
// Everything here is read and written by a thread that stands between two instructions of the user's program. So it is
// plain memory that is there before the first trap: no constructor, no allocation, no lock. The rules of access:
// - a thread's record and account are written by that thread only (and by its own signal handlers, which is why every
//   update is one instruction); a reader clears its counts only while no thread can write to that bank;
// - controls are written by the backend, under the window book's lock;
// - an account that threads share (`is_shared`, when there is no memory for more) is updated by locked instructions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::signal_safe {

inline constexpr std::uint32_t kBanks = 2;           ///< A segment is read while the next one counts.
inline constexpr std::uint32_t kLanes = 17;          ///< 0 = threads outside thread scopes; 1..16 = threads inside one.
inline constexpr std::uint32_t kSlots = 128;         ///< Distinct syscalls of a run; more are counted as lost.
inline constexpr std::uint32_t kKindSlots = 48;      ///< For kinds of files, out of kSlots; more are counted without.
inline constexpr std::uint32_t kKindPlaces = 128;    ///< Where those are searched for.
inline constexpr std::uint32_t kErrorSlots = 512;    ///< Distinct (syscall, errno) pairs; more are counted as lost.
inline constexpr std::uint32_t kBuckets = 304;       ///< syscost/histogram.h
inline constexpr std::uint32_t kNumbers = 1024;      ///< Numbers per ABI with a table entry; others are searched for.
inline constexpr std::uint32_t kAbis = 3;            ///< core/syscall_id.h
inline constexpr std::uint32_t kErrnos = 256;        ///< errnos with a table entry; others are searched for.
inline constexpr std::uint32_t kLogRecords = 16384;  ///< Calls that crossed a boundary, not yet read.
inline constexpr std::uint32_t kThreads = 16384;     ///< Threads seen at the same time; more are reported as unseen.
inline constexpr std::uint32_t kSaved = 7;           ///< Nested vforks of one thread.
/// The last byte says how long the instruction is that it begins with; then comes the load of the return address.
inline constexpr std::uint64_t kTrampolineBytes = 48;

/// Which segment a lane's calls belong to: generation << 8 | lane << 1 | bank; 0 = disarmed.
using Control = std::uint64_t;
constexpr Control control_of(std::uint64_t generation, std::uint32_t lane, std::uint32_t bank) {
  return generation << 8 | std::uint64_t{lane} << 1 | bank;
}
constexpr std::uint64_t generation_of(Control control) {
  return control >> 8;
}
constexpr std::uint32_t lane_of(Control control) {
  return static_cast<std::uint32_t>(control >> 1) & 0x7f;
}
constexpr std::uint32_t bank_of(Control control) {
  return static_cast<std::uint32_t>(control) & 1;
}

/// One syscall of one segment.
struct Cell {
  std::uint64_t mark;           ///< 0, or the account's dirty bit is set: 1 + the source of bytes (bytes.h).
  std::uint64_t calls_untimed;  ///< Those with a latency stand in the buckets.
  std::uint64_t latency_sum_ns;
  std::uint64_t latency_least;  ///< The least plus 1; 0 = none yet.
  std::uint64_t latency_max_ns;
  std::uint64_t bytes;         ///< That calls moved or mapped.
  std::uint64_t bytes_second;  ///< Short calls, or what calls unmapped.
  std::uint64_t altered;       ///< Calls that a fault answered or changed (faults.h).
  std::uint64_t buckets[kBuckets];
};

struct Places;
struct Walker;

/// The counts of one thread, or of one lane. Cells come from the arena when first needed.
struct Account {
  Cell* cells[kBanks][kSlots];
  std::uint64_t* errors[kBanks];  ///< [kErrorSlots]
  std::uint64_t dirty[kBanks][kSlots / 64];
  std::uint64_t dirty_errors[kBanks][kErrorSlots / 64];
  std::uint64_t unkept[kBanks];  ///< Calls in the cells without an event (trace.h).
  Places* places[kBanks];        ///< For calls that are counted by their stacks (where.h); null = there are none.
  bool is_shared;
};

struct alignas(64) Lane {
  Control control;
  Account* account;  ///< Null on lane 0: each thread counts in its own.
};

/// A call needs this after a return on a stack that the child has written over.
struct Saved {
  std::uint64_t return_address;
  std::uint64_t flags;
  std::uint32_t number;
  std::uint32_t is_altered;
  Control control;
  std::uint64_t start;
};

/// The kernel's stack_t.
struct Stack {
  std::uint64_t start;
  std::uint32_t flags;
  std::uint32_t padding;
  std::uint64_t bytes;
};

/// The kernel's siginfo_t.
struct SignalInfo {
  std::uint32_t signal, error, code, padding;
  std::uint64_t rest[14];
};

/// A SIGSYS of the program that waits (signals.h).
struct PendingSignal {
  std::uint32_t state;  ///< Empty, being written or read, full.
  std::uint32_t padding;
  std::uint64_t info[6];  ///< The part of a siginfo that the kernel fills.
};

/// One armed thread; found through the gs base, which nothing else on x86-64 Linux uses and every child inherits.
struct alignas(64) Thread {
  Lane* lane = {};              // offset 0, known to the stub
  Account* account = {};        // null until the first call that counts
  std::uint64_t open = {};      // the recording under way, so that a reader can wait for it; 0 = none (record.h)
  std::uint64_t ended = {};     // recordings; numbers the next one
  std::uint64_t given_up = {};  // the reader's: a recording that it waits for no more
  std::uint32_t is_used = {};
  std::uint32_t blocks_sigsys = {};  // as the program believes; the kernel's mask never holds it
  std::uint32_t saved_depth = {};
  std::uint32_t id = {};  // the kernel's; 0 = not armed
  Saved saved[kSaved] = {};
  std::uint64_t execution_room = {};  // command.h: a child in this memory leaves it to its maker
  std::uint32_t waits_for_child =
      {};                        // this record is lent to that child (command.h); of children in each other, how many
  std::uint32_t own_work = {};   // the thread works for syscost: no fault of the program's is for its calls (faults.h)
  Walker* walker = {};           // where.h; null until the first call of which the stack is found
  std::uint64_t stack_top = {};  // where the thread's stack begins; 0 = unknown
  void* fault_room = {};         // faults.h; null until a rule needs it
  Stack own_stack = {};          // the signal stack that the program believes it has
  Stack signal_stack = {};  // ours, which the kernel knows; kept for the next thread. 0 bytes = there was no memory
  std::uint32_t hides_stack = {};     // has had a signal stack that the kernel forgets while a handler runs on it
  std::uint32_t blocks_outside = {};  // while a call waits under a mask of its own: blocks_sigsys before it, plus 1
  PendingSignal pending = {};         // a SIGSYS for this thread, which it blocks
  SignalInfo* received = {};          // for a call that awaits SIGSYS where the program wants none
  std::uint32_t awaits_sigsys = {};
  std::uint32_t trapped_in = {};  // its last trapped call: State::pauses + 1
  std::uint64_t runs_on_at = {};  // the stub's: where interrupted code goes on (syscost_run_on)
};

/// A call that entered in one segment and returned in another.
struct LogRecord {
  std::uint64_t sequence;  ///< index + 1, written last; | kDelivered when it has been read
  Control entered;
  Control returned;
  std::uint64_t latency_ns;
  std::uint64_t bytes;  ///< As in a cell.
  std::uint64_t bytes_second;
  std::uint32_t slot;
  std::int32_t error;
  std::uint32_t has_latency;
  std::uint32_t is_kept;
  std::uint32_t stack;  ///< CallDetail::origin
  std::uint32_t is_altered;
  std::uint32_t thread;  ///< Its record's index.
  std::uint32_t born;    ///< As in Life.
};

inline constexpr std::uint64_t kDelivered = 1ULL << 63;

inline constexpr std::uint32_t kNotSelected = ~0U;

/// The directory: a syscall, and a (syscall, errno) pair, gets a slot when it is first seen.
struct Directory {
  std::uint32_t slots_used;
  std::uint32_t error_slots_used;
  std::uint32_t slot_of[kAbis * kNumbers];  ///< slot + 1; 0 = not seen yet; kNotSelected
  /// abi << 32 | number; bit 63: a number beyond the tables; bits 40 to 55: kinds of files (file_kinds.h)
  std::uint64_t syscall_of[kSlots];
  std::uint32_t kind_slots_used;
  std::uint32_t slot_of_kinds[kKindPlaces];  ///< slot + 1; 0 = none
  std::uint32_t error_slot_of[kSlots * kErrnos];
  std::uint32_t error_of[kErrorSlots];  ///< slot << 16 | errno
  std::uint32_t ignores_unlisted;
};

/// Why we stopped watching.
enum class StoodAside : std::uint32_t { no, own_dispatch, own_gs, no_clock, own_sigsys_file, own_filter };

/// A part of the vector state in a signal's frame. The kernel never writes between the parts.
struct VectorPart {
  std::uint32_t offset;
  std::uint32_t bytes;
};
inline constexpr std::uint32_t kVectorParts = 64;

/// In which of State::openings a thread took its record, and in which one the record's last thread left it.
struct Life {
  std::uint32_t born;
  std::uint32_t left;
};

struct State {
  Directory directory;
  LogRecord log[kLogRecords];
  std::uint64_t log_produced;
  std::uint64_t log_consumed;
  std::uint64_t log_lost;
  std::uint64_t lost;                     ///< Calls and errors for which there was no slot.
  PendingSignal pending;                  ///< A SIGSYS for the process, which all threads block.
  std::int32_t process;                   ///< Its id.
  std::uint32_t pauses;                   ///< How often calls were not dispatched for a while.
  std::uint32_t filters;                  ///< Calls of the program that installed a seccomp filter, or are about to.
  bool has_signals;                       ///< The kernel's actions are ours.
  std::uint32_t openings;                 ///< How often a window of the process was opened beside none.
  Life lives[kThreads];                   ///< Those of the threads' records.
  std::uint64_t unseen_threads;           ///< Born while there was no place for more.
  std::uint64_t trapped;                  ///< Calls that came by SIGSYS.
  std::uint64_t frame_bytes;              ///< The kernel needs so many on a stack to deliver a signal.
  VectorPart vector_parts[kVectorParts];  ///< By number; 0 bytes = there is none.
  std::uint64_t ns_per_tick;              ///< Fixed point, 32 bits after the point; 0 = no usable clock.
  std::uint64_t trampolines;              ///< Where patched sites jump to; each of kTrampolineBytes.
  std::uint64_t trampolines_bytes;
  std::uint64_t patched_text;  ///< Where they are reached from; libc's.
  std::uint64_t patched_text_bytes;
  std::uint32_t thread_high;  ///< Threads [0, thread_high) were in use at some time.
  StoodAside stood_aside;
  /// After an mlockall that failed with ENOMEM; null = there is none. `call`: syscost_raw_syscall.
  long (*lock_all_but_ours)(unsigned long flags, long (*call)(long, long, long, long, long, long, long));
  char* arena;
  std::uint64_t arena_bytes;
  std::uint64_t arena_used;
  Account shared_account;
  Lane* lanes;  ///< [kLanes], in memory that fork children see as zero: disarmed
};

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): the stub knows them by these names
extern "C" {
extern syscost::signal_safe::State syscost_state;
extern syscost::signal_safe::Thread syscost_threads[syscost::signal_safe::kThreads];
/// For threads that we do not count: threads older than us, a thread in a timed pass. Its lane is never armed.
extern syscost::signal_safe::Thread syscost_foreign_thread;
/// A child that runs in this memory and is another process: vfork, posix_spawn. The same, but its signals are its own.
extern syscost::signal_safe::Thread syscost_child_thread;
/// The kernel reads this before it dispatches: 1 = dispatch, 0 = let pass.
extern char syscost_selector;
/// The program has denied itself the time-stamp counter: the kernel kills a thread that reads it.
extern char syscost_denies_ticks;
/// 0 only while no lane is armed and no client looks at calls: then a patched site need not look any further. Bits: 1 =
/// a lane is armed; 2 = a client has marked numbers (call.h).
extern char syscost_any_armed;
/// True only while the program has one thread, which is seen: no other thread can read its recordings. Set between
/// windows; that thread itself clears it, before it makes another.
extern char syscost_is_alone;
/// True when a gs base of 0 may be that of a thread older than us. If there is none, it was set by the program.
extern char syscost_has_older_threads;
/// The stub found a gs base that is neither ours nor that of a thread we do not watch: calls went by uncounted.
extern char syscost_gs_was_changed;
}
// NOLINTEND(readability-identifier-naming)
