// SPDX-License-Identifier: MIT
#include "extras/where/stub/call_stacks.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "backends/dispatch/stub/bytes.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/where/stub/cfi.h"
#include "extras/where/stub/unwind.h"

namespace syscost::signal_safe {
namespace {

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

Walker* walker_of(Thread& thread) {
  std::atomic_ref place(thread.walker);
  Walker* walker = place.load(std::memory_order_relaxed);
  if (walker != nullptr) return walker;
  walker = static_cast<Walker*>(take_where_memory(sizeof(Walker)));
  place.store(walker, std::memory_order_release);
  return walker;
}

// ---- numbers of stacks ----------------------------------------------------------------------------------------------

std::uint64_t hash_of(const Walk& walk) {
  constexpr std::uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t hash = static_cast<std::uint64_t>(walk.end) + 1;
  for (std::uint32_t i = 0; i < walk.frames; ++i) {
    hash = (hash ^ walk.frame[i]) * kFactor;
    hash ^= hash >> 32;
  }
  return hash;
}

bool is_same(const KnownStack& stack, const Walk& walk, std::uint64_t hash) {
  if (stack.hash != hash || stack.frames != walk.frames || stack.end != walk.end) return false;
  for (std::uint32_t i = 0; i < walk.frames; ++i) {
    if (stack.frame[i] != walk.frame[i]) return false;
  }
  return true;
}

KnownStack* make_stack(const Walk& walk, std::uint64_t hash) {
  const std::uint64_t bytes = offsetof(KnownStack, frame) + walk.frames * sizeof(PackedFrame);
  auto* stack = static_cast<KnownStack*>(take_where_memory(bytes));
  if (stack == nullptr) return nullptr;
  stack->hash = hash;
  stack->frames = walk.frames;
  stack->end = walk.end;
  copy_bytes(reinterpret_cast<std::uint64_t>(stack->frame), reinterpret_cast<std::uint64_t>(walk.frame),
             walk.frames * sizeof(PackedFrame));
  return stack;
}

/// The number of the stack that has just been unwound; 0 where there is no room for one more.
std::uint32_t number_of(const Walk& walk) {
  WhereState& where = syscost_where_state;
  const std::uint64_t hash = hash_of(walk);
  KnownStack* fresh = nullptr;
  for (std::uint32_t probe = 0; probe < kStackPlaces; ++probe) {
    const auto index = static_cast<std::uint32_t>(hash + probe) % kStackPlaces;
    std::atomic_ref place(where.stacks[index]);
    KnownStack* known = place.load(std::memory_order_acquire);
    if (known == nullptr) {
      if (load(where.stacks_used) >= kMaxStacks) return 0;
      if (fresh == nullptr) fresh = make_stack(walk, hash);
      if (fresh == nullptr) return 0;
      if (place.compare_exchange_strong(known, fresh)) {
        std::atomic_ref(where.stacks_used).fetch_add(1);
        return index + 1;
      }
    }
    if (is_same(*known, walk, hash)) return index + 1;
  }
  return 0;
}

// ---- unwinding ------------------------------------------------------------------------------------------------------

struct Task {
  const Guard& guard;
  const Thread& thread;
  Walker& walker;
  WalkStart start;
  std::uint64_t number;
  KeptUnwinding& kept;
};

/// Reserves room for `words` words. Room that was reserved before is not used again.
Word* make_room(KeptUnwinding& kept, std::uint32_t words) {
  if (kept.capacity < words) {
    constexpr std::uint32_t kLeast = 32;
    std::uint32_t capacity = kLeast;
    while (capacity < words) capacity *= 2;
    auto* room = static_cast<Word*>(take_where_memory(capacity * sizeof(Word)));
    if (room == nullptr) return nullptr;
    kept.word = room;
    kept.capacity = capacity;
  }
  return const_cast<Word*>(kept.word);
}

/// Runs on the walker's stack.
void learn(void* argument) {
  Task& task = *static_cast<Task*>(argument);
  KeptUnwinding& kept = task.kept;
  const std::uint64_t code_epoch = load(syscost_where_state.code_epoch);
  const std::uint64_t memory_epoch = load(syscost_where_state.memory_epoch);
  kept.ip = 0;
  kept.place = nullptr;
  kept.control = 0;
  unwind(task.guard, task.thread, task.walker, task.start);
  const Walk& walk = task.walker.walk;
  kept.stack = number_of(walk);
  const std::uint32_t groups = (walk.words + kWordsAtOnce - 1) / kWordsAtOnce;
  Word* word = walk.is_unrepeatable == 0 ? make_room(kept, groups * kWordsAtOnce) : nullptr;
  if (word == nullptr) return;
  for (std::uint32_t i = 0; i < groups * kWordsAtOnce; ++i) word[i] = walk.word[i < walk.words ? i : walk.words - 1];
  kept.groups = groups;
  kept.sp = task.start.sp;
  kept.rbp = task.start.rbp;
  kept.number = task.number;
  kept.needs_rbp = walk.needs_rbp;
  kept.is_foreign = walk.is_foreign;
  kept.has_condition = walk.needs_rbp | walk.is_foreign;
  kept.code_epoch = code_epoch;
  kept.memory_epoch = memory_epoch;
  kept.ip = task.start.ip;
}

/// True if the call has unmapped the stack that it was made on.
bool has_lost_its_stack(const Call& call) {
  return call.number == SYS_munmap && call.abi == 0 && call.stack_pointer - call.given.rdi < call.given.rsi;
}

}  // namespace

KeptUnwinding* stack_of(const Guard& guard, const Call& call, std::uint32_t slot) {
  Walker* walker = walker_of(*call.thread);
  if (walker == nullptr || has_lost_its_stack(call)) return nullptr;
  CallPlace place = place_of_call(call);
  if (call.abi == 1) {
    constexpr std::uint64_t kBelowInt80 = 136;  // where its stub keeps the way back
    place.ip = read_at<std::uint64_t>(call.stack_pointer - kBelowInt80);
    place.number |= std::uint64_t{1} << 62;
  }
  KeptUnwinding* kept = nullptr;
  for (KeptUnwinding& one : walker->kept[set_of(place)]) {
    if (holds(one, place, call.frame_pointer)) return one.stack != 0 ? &one : nullptr;
    if (one.ip == 0) kept = &one;
  }
  if (kept == nullptr) kept = &walker->kept[set_of(place)][walker->next_way++ % kKeptWays];
  const bool is_clone = call.abi == 0 && (call.number == SYS_clone || call.number == SYS_clone3);
  const WalkStart start{place.ip, place.sp, call.frame_pointer, call.given.rdi, is_clone};
  Task task{guard, *call.thread, *walker, start, place.number, *kept};
  syscost_call_on_stack(learn, &task, walker->stack + kWalkStackBytes, &walker->stack_pointer_outside);
  kept->slot = slot;
  return kept->stack != 0 ? kept : nullptr;
}

namespace {

void begin_segment(Places& places, Control control) {
  places.last = nullptr;
  std::atomic_ref(places.used).store(0);
  places.control = control;
}

/// The next of those that were made before, or a new one.
Place* next_place(Places& places) {
  Place* next = places.last != nullptr ? places.last->next_made : places.first;
  if (next == nullptr) {
    next = static_cast<Place*>(take_where_memory(sizeof(Place)));
    if (next == nullptr) return nullptr;
    (places.last != nullptr ? places.last->next_made : places.first) = next;
  }
  // A recording that was late may have counted here after it had been read.
  if ((next->cell.calls_untimed | next->cell.latency_least) != 0) clear(next->cell);
  for (PlaceError* error = next->errors; error != nullptr; error = error->next) {
    error->error = 0;
    error->count = 0;
  }
  return next;
}

Places* places_of(Account& account, Control control) {
  std::atomic_ref known(account.places[bank_of(control)]);
  Places* places = known.load(std::memory_order_relaxed);
  if (places != nullptr) return places;
  places = static_cast<Places*>(take_where_memory(sizeof(Places)));
  known.store(places, std::memory_order_release);
  return places;
}

}  // namespace

Place* counting_place(const Guard& /*guard*/, Account& account, Control control, KeptUnwinding& kept) {
  if (kept.control == control && kept.account == &account && kept.place != nullptr) return kept.place;
  Places* places = places_of(account, control);
  if (places == nullptr) return nullptr;
  if (places->control != control) begin_segment(*places, control);
  const std::uint64_t key = place_key(kept.slot, kept.stack);
  constexpr std::uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
  static_assert(kPlaceLists == 1 << (64 - 53));
  PlaceList& list = places->list[key * kFactor >> 53];
  if (list.control != control) {
    // In this order, because a handler may leave by longjmp in between.
    list.first = nullptr;
    asm volatile("" : : : "memory");
    list.control = control;
  }
  Place* place = list.first;
  while (place != nullptr && place->key != key) place = place->next_in_list;
  if (place == nullptr) {
    place = next_place(*places);
    if (place == nullptr) return nullptr;
    place->key = key;
    const std::uint64_t syscall = load(syscost_state.directory.syscall_of[kept.slot]);
    place->cell.mark = mark_of(byte_source_of(syscall));
    place->next_in_list = list.first;
    list.first = place;
    places->last = place;
    std::atomic_ref(places->used).store(places->used + 1, std::memory_order_release);
  }
  kept.control = control;
  kept.account = &account;
  kept.place = place;
  return place;
}

std::uint64_t* error_of(Place& place, std::uint32_t error) {
  PlaceError** link = &place.errors;
  for (; *link != nullptr; link = &(*link)->next) {
    PlaceError& one = **link;
    if (one.error == 0) one.error = error;
    if (one.error == error) return &one.count;
  }
  auto* fresh = static_cast<PlaceError*>(take_where_memory(sizeof(PlaceError)));
  if (fresh == nullptr) return nullptr;
  fresh->error = error;
  std::atomic_ref(*link).store(fresh, std::memory_order_release);
  return &fresh->count;
}

void note_unmapping(const Call& call) {
  if (call.abi != 0) return;
  const Arguments& given = call.given;
  switch (call.number) {
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
      return forget_code(given.rdi, given.rsi);
    case SYS_mmap:
      if ((given.r10 & MAP_FIXED) != 0) forget_code(given.rdi, given.rsi);
      return;
    case SYS_shmdt:
    case SYS_shmat:
      return forget_code(0, 0);
    default:
      return;
  }
}

}  // namespace syscost::signal_safe

// In newer headers only.
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

namespace syscost::signal_safe {
namespace {

void set(std::uint64_t descriptor, std::uint32_t stack) {
  if (descriptor < kOpeners) {
    std::atomic_ref(syscost_where_state.openers->of_descriptor[descriptor]).store(stack, std::memory_order_relaxed);
  }
}

/// The two ends that the kernel has just stored at `address`.
void set_pair(std::uint64_t address, std::uint32_t stack) {
  std::uint32_t ends[2];
  if (!read_user(address, ends)) return;
  set(ends[0], stack);
  set(ends[1], stack);
}

/// A thread or a child. In a child itself the result is 0.
void note_started(std::uint64_t id, std::uint32_t stack) {
  if (id == 0) return;
  Openers& openers = *syscost_where_state.openers;
  const std::uint64_t at = std::atomic_ref(openers.started).fetch_add(1, std::memory_order_relaxed);
  std::atomic_ref(openers.of_started[at % kStarters]).store(id << 32 | stack, std::memory_order_relaxed);
}

void forget(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t one = first; one <= std::min<std::uint64_t>(last, kOpeners - 1); ++one) set(one, 0);
}

}  // namespace

void note_descriptors(const Call& call, std::uint32_t stack) {
  if (call.abi != 0) return;
  const Arguments& given = call.given;
  switch (call.number) {
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
    case SYS_open_by_handle_at:
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_socket:
    case SYS_accept:
    case SYS_accept4:
    case SYS_epoll_create:
    case SYS_epoll_create1:
    case SYS_eventfd:
    case SYS_eventfd2:
    case SYS_timerfd_create:
    case SYS_signalfd:
    case SYS_signalfd4:
    case SYS_inotify_init:
    case SYS_inotify_init1:
    case SYS_fanotify_init:
    case SYS_memfd_create:
    case SYS_memfd_secret:
    case SYS_userfaultfd:
    case SYS_perf_event_open:
    case SYS_io_uring_setup:
    case SYS_pidfd_open:
    case SYS_pidfd_getfd:
    case SYS_mq_open:
    case SYS_open_tree:
    case SYS_fsopen:
    case SYS_fspick:
    case SYS_fsmount:
    case SYS_landlock_create_ruleset:
      return set(call.result, stack);
    case SYS_pipe:
    case SYS_pipe2:
      return set_pair(given.rdi, stack);
    case SYS_socketpair:
      return set_pair(given.r10, stack);
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
      return note_started(call.result, stack);
    case SYS_fcntl:
      if (given.rsi == F_DUPFD || given.rsi == F_DUPFD_CLOEXEC) set(call.result, stack);
      return;
    case SYS_close:
      return set(static_cast<std::uint32_t>(given.rdi), 0);
    case SYS_close_range:
      if ((given.rdx & CLOSE_RANGE_CLOEXEC) != 0) return;
      return forget(static_cast<std::uint32_t>(given.rdi), static_cast<std::uint32_t>(given.rsi));
    default:
      return;
  }
}

}  // namespace syscost::signal_safe
