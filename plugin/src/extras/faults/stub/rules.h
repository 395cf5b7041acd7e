// SPDX-License-Identifier: MIT
//
// The rules by which calls of the program fail, wait or are noted: a client of call.h.
//
// The backend opens and closes rules (extras/faults/dispatch/fault_injector.h); each is complete before it is open.
// Threads only count in it. A rule's place is used again: its counts hold the rule's generation, and a thread that has
// been asked about an earlier rule there cannot count in the later one.
//
// The rule that was opened last is asked first. A call that it answers never reaches the rules around it, as if it
// stood between them and the program. Rules that only note calls (is_watch) see them all the same.
//
// Open rules are a list from the newest to the oldest. A thread may walk it while another one changes it: a rule that
// is closed still leads on, and a place that got a newer rule leads to rules that the thread has asked before. It knows
// them by their generations, which grow, and asks none of them twice.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call_files.h"
#include "backends/dispatch/stub/common/call.h"

namespace syscost::signal_safe {

inline constexpr std::uint32_t kFaultRules = 128;

/// The lowest 16 bits of the rule's generation << 48 | count
using FaultCount = std::uint64_t;
inline constexpr unsigned kGenerationAt = 48;
constexpr FaultCount first_count(std::uint64_t generation) {
  return generation << kGenerationAt;
}
constexpr bool is_count_of(FaultCount word, std::uint64_t generation) {
  return (word ^ first_count(generation)) >> kGenerationAt == 0;
}
constexpr std::uint64_t count_in(FaultCount word) {
  return word & ((std::uint64_t{1} << kGenerationAt) - 1);
}

/// A thread's memory for rules: its own count of each, and room for a path. It is memory of the arena, taken when a
/// rule first needs it.
struct FaultRoom {
  void* path;                       ///< call_files.cc; null until a rule of a file asks. It begins with where.
  FaultCount matches[kFaultRules];  ///< This thread's, by the rule's place; 0 = none yet.
};

/// The memory of the thread that makes the call. Null if the arena is used up.
FaultRoom* fault_room_of(const Guard& guard, Thread& thread);

/// The record has a new thread: it begins to count.
void clear_fault_room(Thread& thread);

/// The place has a new rule: each thread begins to count.
void clear_fault_place(std::uint32_t place, std::uint64_t generation);

/// True if the result of this syscall of the native ABI is a number of bytes that it has read or written.
bool moves_bytes(std::uint64_t number);

/// True if the call asks for no byte. It moves none, and succeeds also where there is room for none.
bool asks_for_nothing(const Call& call);

/// Lets the call move at most `most` bytes, which is not 0. If it has several buffers, only whole ones remain, or a
/// part of the first. False if it moves no more anyway, if its number says that it cannot be shortened, or if the call
/// cannot succeed as it is: then the program gets the kernel's error. `call` is of the native ABI.
bool shorten(Call& call, std::uint64_t most);

// Hits: calls that met a rule. The first ones of a rule are kept for people, with their arguments, paths and stacks.

inline constexpr std::uint32_t kKeptHits = 16;    ///< The first of a rule; later ones are only counted.
inline constexpr std::uint32_t kHitKeepers = 16;  ///< Rules that may keep hits at a time.
inline constexpr std::uint32_t kHitPaths = 2;     ///< A call's; no more are kept.
inline constexpr std::uint32_t kHitPathBytes = 250;

/// A path among the arguments.
struct HitPath {
  std::uint8_t is_kept;
  std::uint8_t argument;
  std::uint8_t is_cut;
  std::uint8_t bytes;
  char text[kHitPathBytes];
};

struct FaultHit {
  std::uint64_t ready;  ///< The rule's generation, written last; another one = nothing is kept here.
  std::uint64_t number;
  std::uint64_t arguments[6];
  std::int64_t result;  ///< If it was answered.
  std::uint32_t is_answered;
  std::uint32_t thread;  ///< The kernel's id.
  std::uint32_t stack;   ///< CallDetail::origin; 0 = unknown.
  HitPath path[kHitPaths];
};

/// Makes no call but the one by which is_readable() asks. `is_answered`: by the rule, or by one that was asked before.
void keep_hit(const Guard& guard, FaultHit& hit, std::uint64_t generation, const Call& call, bool is_answered);

struct FaultRule {
  std::uint64_t generation;  ///< 0 = closed. Stored last when the rule opens. Later rules have higher ones.
  std::uint64_t opened;      ///< The generation, also when it is closed: whose counts these are.
  NumberSet numbers;
  Thread* thread;  ///< Null = all that are watched.
  std::uint32_t thread_id;
  std::uint32_t older;          ///< The next rule of the list: its place + 1; 0 = none.
  std::uint32_t is_taken;       ///< Open, or closed and its counts are still wanted.
  std::uint32_t is_watch;       ///< Sees calls that an inner rule has answered.
  std::uint32_t keeper;         ///< Its hits are kept in FaultState::kept: the place + 1; 0 = they are only counted.
  std::uint32_t is_per_thread;  ///< Each thread numbers its own matches.
  std::uint32_t answers;        ///< With `result`, and no call is made.
  std::int64_t result;
  // Which of the calls that match are hit: as FaultChoice, whose initial values would make this memory no zeros.
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t step;
  std::uint64_t threshold;
  std::uint64_t seed;
  std::uint64_t bytes_left;  ///< If has_bytes: hit when matching calls have moved so many.
  std::uint32_t has_bytes;
  std::uint32_t shortens;  ///< The call moves at most `most_bytes`.
  std::uint64_t most_bytes;
  std::uint64_t delay_enter_ns;
  std::uint64_t delay_exit_ns;
  FileRule file;
  // Counts.
  FaultCount matches;
  FaultCount hits;
  FaultCount moved;
  FaultCount unnumbered;  ///< Matches that were let through: there was no memory to number those of the thread.
  FaultCount filtered;    ///< Calls that were let through: a filter may forbid to ask for their file, or to wait.
};

/// All of it counts against RLIMIT_DATA, also what is not used.
struct FaultState {
  std::uint32_t newest;  ///< Begin of the list: its place + 1; 0 = no rule is open.
  FaultRule rule[kFaultRules];
  FaultHit kept[kHitKeepers][kKeptHits];
};

/// A rule that hits a call, if it has no further condition.
struct ChosenRule {
  FaultRule* rule;  ///< Null = there is none.
  std::uint64_t generation;
};

/// The rule that is asked first, of those that the call matches and that choose it. Counts the call in the rules that
/// it asks. Needs the thread, the number and `given` of the call.
ChosenRule choose_rule(const Guard& guard, const Call& call);

/// The same for a call that was chosen: true if a rule answers, and `result` is set. `is_plain`: `adapted` and `used`
/// may be changed for it.
bool ask_faults(const Guard& guard, Call& call, bool is_plain, ChosenRule chosen);
/// After a call that moved bytes which a rule counts.
void tell_faults(const Guard& guard, const Call& call);

/// Lets the calling thread wait. A signal handler may run meanwhile. Makes no call if the program may have a filter;
/// then it needs the clock.
void wait_for(std::uint64_t ns);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::FaultState syscost_faults;
}
// NOLINTEND(readability-identifier-naming)
