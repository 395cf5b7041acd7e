// SPDX-License-Identifier: MIT
//
// Ledger: what the supervisor keeps for itself, in memory that only its two processes have. If the one that answers is
// killed, the next one goes on with it.
//
// What decides whether a process's call is answered by a rule lies here and not in shared.h. The measured process may
// give up rights, and then execute a program that gains some; no word that it writes may make rules apply there.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "backends/seccomp/fault_book.h"
#include "backends/seccomp/listener.h"

namespace syscost::seccomp {

/// Calls that can wait at once because of a delay. While so many do, other calls wait until one goes on.
inline constexpr std::uint32_t kDelayedCalls = 256;

/// Matches of one thread, for rules in which each thread has numbers of its own: places of a hash table.
inline constexpr std::uint32_t kThreadCounts = 1U << 16;

/// A call that goes on later.
struct DelayedCall {
  std::atomic<std::uint64_t> id;  ///< Of the notification; 0 = none. Stored last.
  std::uint64_t due_ns;           ///< By CLOCK_MONOTONIC.
  std::int64_t result;
  bool is_answered;
};

/// The matches of one thread.
struct ThreadCount {
  std::uint64_t generation;  ///< Of the rule; 0 = free. The place is free, too, when that rule is closed.
  std::uint32_t place;       ///< Of the rule.
  std::int32_t thread;       ///< 0 = it has ended, and the place is free.
  std::uint64_t matches;
};

/// All zero at first.
struct Ledger {
  // Set before the supervisor starts.
  pid_t measured;            ///< The measured process, by the supervisor's PID namespace.
  bool notifies_everything;  ///< Else calls by which a process becomes another program may not be seen: no rule is
                             ///< asked.

  Mailbox mailbox;                 ///< The call that waits for an answer.
  std::atomic<bool> has_executed;  ///< The process asked for another program: it may be one by now.
  /// By a rule's place: its generation, if it was for a thread that has ended. Another may get the thread's id.
  std::uint64_t ended[kFaultRules];
  DelayedCall delayed[kDelayedCalls];
  ThreadCount of_threads[kThreadCounts];
};

/// Maps zeroed memory that the creator must unmap when the supervisor has been cloned; only used pages take memory.
/// Null if there is none.
Ledger* map_ledger();
void unmap_ledger(Ledger* ledger);

}  // namespace syscost::seccomp
