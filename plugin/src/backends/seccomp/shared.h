// SPDX-License-Identifier: MIT
//
// The memory that the measured process and its supervisor share: its layout, how the process reads the counts in it,
// and the number by which the supervisor knows a thread of the process.
//
// The supervisor was cloned before the process gave up rights that it may have given up since, and other processes
// under the filter may have more rights than the process now has. So the supervisor trusts no number that it finds
// here: it checks each that it uses as an index, and keeps the data that decide about other processes in memory of its
// own (Ledger of supervisor.h). Fork children do not inherit this memory: they may have fewer rights than their parent,
// and must not change what its calls return.
//
// Each word has one writer: the process arms lanes, says which thread is in which lane, and clears banks that have
// ended; the supervisor counts. There is one supervisor and it counts one call at a time, so a cell needs no lock.
//
// How a bank is read without losing a count: the supervisor makes `sequence` odd before it looks at a control word and
// even when it has counted; the process stores the new control word and then waits while the sequence it sees is odd.
// Afterwards no process writes to the old bank any more.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/seccomp/listener.h"
#include "backends/seccomp/program_identity.h"
#include "core/selector.h"
#include "core/syscall_id.h"
#include "core/tally.h"
#include "extras/faults/seccomp/fault_book.h"

namespace syscost::seccomp {

/// The process's lane and those of threads inside scopes.
inline constexpr std::uint32_t kLanes = 17;
/// Syscalls that a table can name, of every ABI.
inline constexpr std::size_t kIndexes = kAbiCount * Filter::kNumbers;
/// Different numbers beyond the tables in one segment; more are lost.
inline constexpr std::size_t kUnlistedNumbers = 64;

/// Different programs among the children of a run; those of more are lost.
inline constexpr std::size_t kPrograms = 32;

/// Tools of ours that can run at once.
inline constexpr std::size_t kTools = 4;

/// Control words: 0 = disarmed, else the generation and the bank that counts it.
inline constexpr std::uint64_t kFollowProcess = ~std::uint64_t{0};
constexpr std::uint64_t make_control(std::uint64_t generation, std::uint32_t bank) {
  return generation << 1 | bank;
}
constexpr std::uint32_t bank_of(std::uint64_t control) {
  return control & 1;
}

/// The counts of one segment. Bits show the cells that were used, so that reading takes time for these only.
struct Bank {
  std::atomic<std::uint64_t> touched[(kIndexes + 63) / 64];
  std::atomic<std::uint64_t> entries[kIndexes];
  std::atomic<bool> has_altered;                 ///< False: each cell of `altered` is 0.
  std::atomic<std::uint64_t> altered[kIndexes];  ///< Of `entries`: a fault answered or delayed them.
  struct Unlisted {
    std::atomic<std::uint64_t> id;  ///< ABI in the upper half, number in the lower.
    std::atomic<std::uint64_t> entries;
    std::atomic<std::uint64_t> started;
    std::atomic<std::uint64_t> older;
  };
  std::atomic<std::uint64_t> unlisted_used;
  Unlisted unlisted[kUnlistedNumbers];
};

/// How many entries of a bank are by which threads.
struct Makers {
  std::atomic<bool> has_others;                  ///< False: each cell is 0.
  std::atomic<std::uint64_t> started[kIndexes];  ///< By threads that began in the window.
  std::atomic<std::uint64_t> older[kIndexes];    ///< By others than those and the opener.
};

/// How far the start of the two processes has come; a futex word.
enum Phase : std::uint32_t {
  kStarting = 0,  ///< The supervisor was cloned.
  kWaiting,       ///< It runs, and waits for the listener. Before that no filter may be installed.
  kListening,     ///< The filter is installed; `listener` is its number in the shared descriptor table.
  kTaken,         ///< Both processes of the supervisor have the listener; the process closes its own.
  kServing,       ///< Only the supervisor has it, so no child that another thread forks inherits it: it may answer.
  kGivenUp,       ///< The filter could not be installed: the supervisor ends.
};

/// All zero at first.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): words of different writers lie in different cache lines
struct Shared {
  // Set before the supervisor starts.
  std::uint64_t cookie;  ///< As sixth argument: a call of ours, which the filter lets pass without a notification.
  std::atomic<std::uint64_t> is_left_out[(kIndexes + 63) / 64];  ///< Syscalls that --syscost_filter leaves out.

  bool notifies_everything;  ///< Also syscalls that is_left_out has.
  bool is_wait_killable;     ///< Once a call has been received, no signal interrupts it before it is answered.

  // Starting.
  std::atomic<std::uint32_t> phase;
  std::atomic<std::int32_t> listener;

  // By the supervisor.
  alignas(64) std::atomic<std::uint64_t> sequence;   ///< Odd while a call is being counted.
  std::atomic<std::uint64_t> lost;                   ///< Calls for which there was no cell.
  alignas(64) std::atomic<std::uint64_t> takeovers;  ///< How often a supervisor was killed and another took over.
  std::atomic<std::uint64_t> tracer_filters;         ///< Filters that may ask a tracer (filters.h).
  std::atomic<bool> knows_threads;                   ///< It knows which threads are older than itself.

  // By the process.
  struct alignas(64) LaneWord {
    std::atomic<std::uint64_t> control;
  } lanes[kLanes];
  std::atomic<std::uint32_t> openings;  ///< How often windows of the process were opened beside none.
  struct Opening {
    std::atomic<std::uint32_t> number;
    std::atomic<std::int32_t> thread;             ///< That opened them, in the supervisor's PID namespace.
  } opening_in[kLanes][2];                        ///< By lane and bank.
  std::atomic<std::uint8_t> lane_of[kThreadIds];  ///< By thread id, in the supervisor's PID namespace.

  Bank banks[kLanes][2];
  Makers makers[kLanes][2];  ///< Of these.

  std::atomic<pid_t> own_sessions[kTools];  ///< Of tools that we run, which are not counted as children; 0 = none.

  FaultBook faults;

  // Children, by program; accounts are never given back while a run lasts.
  std::atomic<bool> counts_children;
  std::atomic<std::uint32_t> programs_used;
  struct Program {
    ProgramName name;  ///< Written before programs_used counts it.
    Bank banks[2];     ///< As those of lane 0.
  } programs[kPrograms];
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint8_t>::is_always_lock_free);

/// Maps zeroed memory for a process and its supervisor. Only used pages take memory. Null if there is none.
Shared* map_shared();
void unmap_shared(Shared* shared);
/// From now on children inherit it, or do not. False, with errno, if the kernel cannot do that.
bool let_children_inherit(Shared& shared, bool inherit);

/// Waits until `shared.phase` is no longer `seen`, or `timeout_ms` have passed. Its call carries the cookie, so the
/// filter lets it pass.
void wait_for_phase(Shared& shared, std::uint32_t seen, int timeout_ms);
void set_phase(Shared& shared, Phase phase);

// Reading counts, and clearing them for the next segment. Memory accesses only; callers hold the window book's lock.

/// Waits until the supervisor has counted the call that it is at, for about a tenth of a second at most. Returns false
/// if it has not: then this call may still be counted into a bank that has ended.
[[nodiscard]] bool wait_for_supervisor(const Shared& shared);

/// Adds the entries in `bank` that `filter` selects (null = all) to `into`, and clears it. `makers`: those of the bank;
/// null: it has none.
void take(Bank& bank, Makers* makers, const Filter* filter, CallTable& into);

/// True if calls were counted into `bank` since it was cleared.
bool is_touched(const Bank& bank);

/// Clears calls that were counted too late. They were reported when the bank was read.
void clear(Bank& bank, Makers* makers);

/// The number by which the supervisor knows the calling thread. 0 if a filter of the user denies gettid. A thread's
/// first use makes one call, which is never counted.
std::int32_t calling_thread(const Shared& shared);

}  // namespace syscost::seccomp
