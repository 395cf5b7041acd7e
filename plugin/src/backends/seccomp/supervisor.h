// SPDX-License-Identifier: MIT
//
// The supervisor: the process outside the filter that answers every notification; and the Ledger, memory of its own.
//
// While a call waits for its answer its thread stands still, so the lane and segment that the supervisor reads for it
// are the thread's own at its entry. Other threads may pass a boundary meanwhile; but a call that is counted after a
// boundary has had no effect before it, so it does not matter that it began earlier.
//
// All of it, but mapping the Ledger, runs in a process that was cloned from a program with threads: no allocation, no
// lock, no library that has either.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "backends/seccomp/listener.h"
#include "backends/seccomp/program_identity.h"
#include "backends/seccomp/shared.h"
#include "core/syscall_id.h"
#include "core/tally.h"
#include "extras/faults/seccomp/fault_book.h"

namespace syscost::seccomp {

/// Calls that can wait at once because of a delay. While so many do, other calls wait until one goes on.
inline constexpr std::uint32_t kDelayedCalls = 256;

/// Matches of one thread, for rules in which each thread has numbers of its own: places of a hash table.
inline constexpr std::uint32_t kThreadCounts = 1U << 16;

/// A call that goes on later.
struct DelayedCall {
  std::atomic<std::uint64_t> id;  ///< The notification's; 0 = none. Stored last.
  std::uint64_t due_ns;           ///< By CLOCK_MONOTONIC.
  std::int64_t result;
  bool is_answered;
};

/// The matches of one thread.
struct ThreadCount {
  std::uint64_t generation;  ///< The rule's; 0 = free. The place is free, too, when that rule is closed.
  std::uint32_t place;       ///< The rule's.
  std::int32_t thread;       ///< 0 = it has ended, and the place is free.
  std::uint64_t matches;
};

/// Data that the supervisor keeps for itself, in memory that only its two processes have. If the one that answers is
/// killed, the next one goes on with it. All zero at first.
///
/// The data that decide whether a rule answers a process's call lie here and not in shared.h. The measured process may
/// give up rights, and then execute a program that gains some; no word that it writes may make rules apply there.
struct Ledger {
  // Set before the supervisor starts.
  pid_t measured;            ///< The measured process, by the supervisor's PID namespace.
  bool notifies_everything;  ///< Else calls by which a process becomes another program may not be seen: no rule is
                             ///< asked.

  Mailbox mailbox;                 ///< The call that waits for an answer.
  std::atomic<bool> has_executed;  ///< The process asked for another program: it may be one by now.
  EndedRules ended_rules;
  DelayedCall delayed[kDelayedCalls];
  ThreadCount of_threads[kThreadCounts];
};

/// Maps zeroed memory that the creator must unmap when the supervisor has been cloned; only used pages take memory.
/// Null if there is none.
Ledger* map_ledger();
void unmap_ledger(Ledger* ledger);

/// The syscall that a notification is about.
SyscallId syscall_id_of(std::uint32_t arch, std::uint32_t number);

/// True if the thread belongs to `process`. The thread is stopped in its call while we ask, so the answer stays true.
/// A thread of any other process belongs to a child.
bool is_of_process(pid_t process, std::int32_t thread);

/// Counts notifications into the shared memory. It keeps the last call of each thread in memory of its own process.
class Counter {
 public:
  /// `shared` must outlive it. `measured`: the measured process. Maps memory.
  Counter(Shared& shared, pid_t measured);
  ~Counter();
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  /// Counts the notified call if its thread belongs to the measured process, or to a child and children are counted.
  /// A restarted call is counted as the call that it continues. `is_altered`: a fault answers or delays it.
  void count(const Notification& notification, bool is_altered = false);

  /// Counts without asking which process the thread belongs to.
  void count_for(std::int32_t thread, SyscallId id, bool is_altered = false);

  /// Notes the threads that the measured process has: they are older than the windows of `opening` (Shared::openings).
  /// Before a call is answered.
  void note_threads_before(std::uint32_t opening);

 private:
  void count_child(std::int32_t thread, SyscallId id);
  Shared::Program* account_of(std::int32_t thread);
  SyscallId resolve_restart(std::int32_t thread, SyscallId id);
  /// `makers`: those of the bank; null where all calls are the opener's.
  void add(Bank& bank, Makers* makers, SyscallId id, Maker maker, bool is_altered = false);
  void note_first_call(std::int32_t thread, SyscallId id);
  Maker maker_of(std::int32_t thread, std::uint32_t lane, std::uint32_t bank) const;

  Shared& shared_;
  const pid_t measured_;
  ProgramNames names_;
  std::uint16_t* last_call_;  // by thread id: index + 1 of the last call, 0 = unknown; null without memory
  std::uint32_t*
      first_seen_;  // by thread id: Shared::openings + 1 at its first call, 0 = none yet; null without memory
  std::uint32_t noted_opening_ = 0;  // at the call before
  std::uint32_t births_ = 0;         // calls that may have made a thread since all were noted
};

enum class Served { kNoProcessIsLeft, kGuardIsGone };

/// Descriptors of the supervisor.
struct SupervisorFiles {
  int listener = -1;
  int measured = -1;  ///< pidfd of the measured process; negative = the kernel or a profile has denied it.
};

/// Receives notifications, counts them, and lets the calls continue or answers them, until no process is left under the
/// filter, or until `guard` is no longer its parent. It checks the parent once a second.
Served serve(Shared& shared, Ledger& ledger, const SupervisorFiles& files, pid_t guard);

/// In a child of `creator`: returns in a child of this process, with the id of this process, which stays until the
/// other no longer needs a creator, or has ended. So `creator` has no child while it is measured.
pid_t start_below(Shared& shared, pid_t creator);

/// The first process of the supervisor. It waits until the filter is installed, takes the listener, and keeps a serving
/// process running below it. If it is killed, that process takes its place. When it begins, it shares its creator's
/// descriptors. Never returns.
[[noreturn]] void run_supervisor(Shared& shared, Ledger& ledger, pid_t creator);

}  // namespace syscost::seccomp
