// SPDX-License-Identifier: MIT
//
// The memory that the stub and the backend share for --syscost_where: the call stacks that were seen, and the counts of
// each.
//
// The backend reserves all of this before the first window; without the flag there is nothing. The stub only adds: a
// stack, once it has its number, and a module stay as they are, so the backend reads them without a lock.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/common/state.h"

namespace syscost::signal_safe {

inline constexpr std::uint32_t kMaxFrames = 128;            ///< A stack's; beyond them it ends as too deep.
inline constexpr std::uint32_t kMaxWords = 2 * kMaxFrames;  ///< That an unwinding reads; too deep beyond.
inline constexpr std::uint32_t kStackPlaces = 1 << 16;      ///< A table by hash; beyond three quarters no new stack.
inline constexpr std::uint32_t kMaxStacks = kStackPlaces / 4 * 3;
inline constexpr std::uint32_t kRules = 1 << 14;       ///< Kept rules of all threads, one for an address.
inline constexpr std::uint32_t kModules = 2048;        ///< Loaded files; frames of others have no module.
inline constexpr std::uint32_t kMaxModuleName = 4096;  ///< Bytes.
inline constexpr std::uint32_t kMaxBuildId = 64;       ///< Bytes.
inline constexpr std::uint32_t kKeptSets = 32;         ///< A thread's, for kept unwindings, by a hash.
inline constexpr std::uint32_t kKeptWays = 8;          ///< In each set: as many stacks of one hash are told apart.
inline constexpr std::uint32_t kPlaceLists = 2048;     ///< Those of an account's bank, by a hash.
inline constexpr std::uint32_t kOpeners = 1 << 16;  ///< Descriptors with lower numbers have the stack that opened them.
inline constexpr std::uint32_t kStarters = 1 << 12;         ///< As many of the newest threads and children have theirs.
inline constexpr std::uint64_t kVectorBytes = 2816;         ///< For the vector registers, up to AVX-512's.
inline constexpr std::uint64_t kWalkStackBytes = 8192;      ///< An unwinding runs on; also in a library's function.
inline constexpr std::uint64_t kLargestFrame = 1ULL << 26;  ///< Bytes; a larger one is taken for an error.
inline constexpr std::uint64_t kLargestThreadStack = 1ULL << 30;
inline constexpr std::uint32_t kProvenPages = 16;  ///< Pages of stacks that are not the thread's own.

/// Why a stack has no further frames: StackEnd of core/call_stack.h.
enum class WalkEnd : std::uint32_t { complete, no_information, too_deep };

/// One frame: the module's index above 52 bits of the offset in it.
using PackedFrame = std::uint64_t;
inline constexpr unsigned kOffsetBits = 52;
constexpr PackedFrame packed_frame(std::uint32_t module, std::uint64_t offset) {
  return std::uint64_t{module} << kOffsetBits | (offset & ((1ULL << kOffsetBits) - 1));
}

/// A stack that has a number: its place in State::stacks plus 1.
struct KnownStack {
  std::uint64_t hash;
  std::uint32_t frames;
  WalkEnd end;
  PackedFrame frame[1];  ///< [frames]
};

/// A file that frames lie in.
struct KnownModule {
  std::uint32_t is_ready;    ///< All of it is written.
  std::uint32_t is_retired;  ///< Its memory was unmapped: another module may lie there now.
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bias;
  std::uint64_t link_map;
  const char* name;  ///< As the loader has it; empty for the program.
  std::uint32_t build_id_bytes;
  unsigned char build_id[kMaxBuildId];
};

/// A rule and the address that it is for. Threads write without a lock: the check fails for a half of each of two.
struct KeptRule {
  std::uint64_t check;
  std::uint64_t rule;
};

struct PlaceError {
  PlaceError* next;
  std::uint64_t count;
  std::uint32_t error;  ///< 0 = free.
};

/// One (syscall, stack) of one segment and one account.
struct Place {
  std::uint64_t key;  ///< slot << 32 | stack
  Place* next_in_list;
  Place* next_made;
  PlaceError* errors;
  Cell cell;
};
constexpr std::uint64_t place_key(std::uint32_t slot, std::uint32_t stack) {
  return std::uint64_t{slot} << 32 | stack;
}

/// Places with the same hash.
struct PlaceList {
  Control control;  ///< The list is one of this segment; empty in others.
  Place* first;
};

/// The places of one account's bank. A thread that begins a segment takes those of the last one again.
struct Places {
  Control control;     ///< That of the segment that they are for.
  std::uint32_t used;  ///< The first so many in the order in which they were made.
  Place* first;
  Place* last;  ///< In use.
  PlaceList list[kPlaceLists];
};

/// A word that an unwinding read.
struct Word {
  std::uint64_t address;
  std::uint64_t value;
};
inline constexpr std::uint32_t kWordsAtOnce = 4;  ///< A stack's words are compared in groups, the last one filled up.

/// The end of an unwinding, kept by the thread: if the same words stand there, the stack is the same.
struct alignas(128) KeptUnwinding {
  // In one cache line: what each call is compared with, and where it counts.
  std::uint64_t ip;  ///< 0 = nothing is kept here.
  std::uint64_t sp;
  std::uint64_t number;  ///< The syscall's; kept_number().
  std::uint64_t code_epoch;
  const Word* word;
  std::uint32_t groups;         ///< Each has kWordsAtOnce words.
  std::uint32_t has_condition;  ///< needs_rbp or is_foreign.
  Control control;  ///< The segment in which its calls counted last, and where: in a place of their account.
  Place* place;
  // The rest.
  std::uint64_t rbp;
  std::uint64_t memory_epoch;  ///< Only if is_foreign.
  std::uint32_t needs_rbp;
  std::uint32_t is_foreign;  ///< It read other memory than that of the thread's stack.
  std::uint32_t stack;
  std::uint32_t slot;
  Account* account;
  std::uint32_t capacity;  ///< Words.
};

/// An unwinding while it is made.
struct Walk {
  std::uint32_t frames;
  std::uint32_t words;
  std::uint32_t needs_rbp;
  std::uint32_t is_foreign;
  std::uint32_t is_unrepeatable;  ///< It used a register that is not kept.
  WalkEnd end;
  PackedFrame frame[kMaxFrames];
  Word word[kMaxWords];
};

/// One thread's memory to find its stacks. Made at its first counted call, and left to the next thread of its record.
struct Walker {
  alignas(64) unsigned char vectors[kVectorBytes];
  alignas(64) unsigned char stack[kWalkStackBytes];
  std::uint64_t stack_pointer_outside;  ///< The stub's, while the thread runs on `stack`.
  std::uint64_t proven_page[kProvenPages];
  std::uint64_t proven_at;  ///< The memory epoch plus 1 in which these pages could be read.
  std::uint32_t proven_next;
  Walk walk;
  std::uint32_t next_way;  ///< The next one to be replaced, in any set.
  KeptUnwinding kept[kKeptSets][kKeptWays];
};

/// Which stack opened or started what may be left (call_stacks.h).
struct Openers {
  std::uint32_t of_descriptor[kOpeners];
  std::uint64_t of_started[kStarters];  ///< id << 32 | stack; the newest replaces the oldest.
  std::uint64_t started;                ///< So many were noted.
};

/// glibc's struct dl_find_object.
struct FoundObject {
  std::uint64_t flags;
  std::uint64_t begin;
  std::uint64_t end;
  const void* link_map;
  const void* eh_frame_header;
  std::uint64_t reserved[7];
};
using FindObject = int (*)(void* address, FoundObject* found);

struct WhereState {
  FindObject find_object;  ///< _dl_find_object
  std::uint32_t is_ready;  ///< All that unwinding needs is there. Set last.
  char* arena;
  std::uint64_t arena_bytes;
  std::uint64_t arena_used;
  std::uint64_t vector_mask;    ///< For xsave; 0 = fxsave.
  std::uint64_t code_epoch;     ///< Grows when code has gone: no rule from before holds.
  std::uint64_t memory_epoch;   ///< Grows when memory has gone.
  std::uint64_t beyond_limits;  ///< Calls that were counted without a stack because a limit was reached.
  std::uint32_t stacks_used;
  std::uint32_t modules_used;
  KnownStack** stacks;   ///< [kStackPlaces]
  KeptRule* rules;       ///< [kRules]
  KnownModule* modules;  ///< [kModules]
  Openers* openers;      ///< With --syscost_leaks; else null.
};

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): the stub knows them by these names
extern "C" {
/// Each counted call gets its stack.
extern char syscost_where;
extern syscost::signal_safe::WhereState syscost_where_state;
}
// NOLINTEND(readability-identifier-naming)
