// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/memory.h"

#include <sys/syscall.h>

#include <algorithm>
#include <atomic>

#include "backends/dispatch/stub/fault_room.h"
#include "backends/dispatch/stub/raw.h"
#include "backends/dispatch/stub/stacks.h"
#include "backends/dispatch/stub/trap_stacks.h"
#include "backends/dispatch/stub/where.h"

namespace syscost::signal_safe {
namespace {

Lane never_armed{};

/// Zeroed memory, or null. `reserve` bytes stay for the shared account, which must never lack any.
void* take(std::uint64_t bytes, std::uint64_t reserve) {
  std::atomic_ref used(syscost_state.arena_used);
  bytes = (bytes + 63) & ~std::uint64_t{63};
  std::uint64_t at = used.load();
  do {
    if (at + bytes + reserve > syscost_state.arena_bytes) return nullptr;
  } while (!used.compare_exchange_weak(at, at + bytes));
  return syscost_state.arena + at;
}

constexpr std::uint64_t kForShared = kBanks * (kSlots * (sizeof(Cell) + 64) + kErrorSlots * sizeof(std::uint64_t) + 64);

/// Makes `place` point to zeroed memory. A signal handler of this thread, or another thread where the account is
/// shared, may do the same at the same time: the first wins.
template <class T>
T* fill(const Account& account, T*& place, std::uint64_t bytes) {
  std::atomic_ref pointer(place);
  T* known = pointer.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  void* fresh = take(bytes, account.is_shared ? 0 : kForShared);
  if (fresh == nullptr) return nullptr;
  return pointer.compare_exchange_strong(known, static_cast<T*>(fresh)) ? static_cast<T*>(fresh) : known;
}

/// Room for one frame and what a handler of ours needs: while one runs, every signal waits. Trap stacks lie above.
Stack make_signal_stack(Thread& thread) {
  constexpr std::uint64_t kForHandler = 8192;
  const std::uint64_t bytes = (syscost_state.frame_bytes + kForHandler + 63) & ~std::uint64_t{63};
  void* start = take(bytes + kTrapStacks * kTrapStackBytes, kForShared);
  if (start == nullptr) return {};
  // The owner is found by its stack (frames.cc).
  *static_cast<Thread**>(start) = &thread;
  return {reinterpret_cast<std::uint64_t>(start), 0, 0, bytes};
}

/// Unmaps the end of an arena, all but `more` bytes beyond what is used. Who takes memory at this moment takes less
/// than that.
void shrink(char* arena, std::uint64_t& bytes, const std::uint64_t& used, std::uint64_t more) {
  constexpr std::uint64_t kPageBytes = 4096;
  std::atomic_ref end(bytes);
  std::uint64_t before = end.load();
  const std::uint64_t wanted =
      (std::atomic_ref(const_cast<std::uint64_t&>(used)).load() + more + kPageBytes - 1) & ~(kPageBytes - 1);
  // Of two threads at once, one unmaps: the other would unmap what has taken the room since.
  if (arena == nullptr || wanted >= before || !end.compare_exchange_strong(before, wanted)) return;
  syscost_raw_syscall(SYS_munmap, reinterpret_cast<long>(arena + wanted), static_cast<long>(before - wanted));
}

}  // namespace

void give_unused_memory_back(const Guard& /*guard*/) {
  if (syscost_state.has_filter) return;
  shrink(syscost_state.arena, syscost_state.arena_bytes, syscost_state.arena_used, kSmallArenaBytes);
  WhereState& where = syscost_where_state;
  shrink(where.arena, where.arena_bytes, where.arena_used, kSmallStackArenaBytes);
}

Thread* take_thread(const Guard& guard) {
  return take_thread(guard, std::atomic_ref(syscost_state.openings).load());
}

Thread* take_thread(const Guard& /*guard*/, std::uint32_t born) {
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    Thread& thread = syscost_threads[i];
    std::atomic_ref used(thread.is_used);
    std::uint32_t expected = 0;
    if (used.load(std::memory_order_relaxed) != 0 || !used.compare_exchange_strong(expected, 1)) continue;
    const std::uint32_t opening = std::atomic_ref(syscost_state.openings).load();
    Life& life = syscost_state.lives[i];
    // What its last thread counted in the window, or in the one before, which may not have been read yet, is told apart
    // from what the next one counts, unless both began since that window did.
    if (life.left + 1 >= opening && std::min(life.born, born) < life.left) {
      used.store(0);
      continue;
    }
    life.born = born;
    std::atomic_ref high(syscost_state.thread_high);
    std::uint32_t seen = high.load();
    while (seen < i + 1 && !high.compare_exchange_weak(seen, i + 1)) {
    }
    thread.lane = &syscost_state.lanes[0];
    thread.saved_depth = 0;
    thread.own_work = 0;
    clear_fault_room(thread);
    thread.blocks_sigsys = 0;
    thread.own_stack = kNoStack;
    thread.hides_stack = 0;
    thread.blocks_outside = 0;
    thread.pending.state = 0;
    thread.awaits_sigsys = 0;
    thread.trapped_in = 0;
    if (thread.signal_stack.bytes == 0) thread.signal_stack = make_signal_stack(thread);
    free_trap_stacks(thread);
    // Its earlier thread may have ended inside a signal handler, in the middle of a recording.
    std::atomic_ref(thread.open).store(0);
    return &thread;
  }
  return nullptr;
}

void note_end(const Thread& thread) {
  std::atomic_ref(syscost_state.lives[&thread - syscost_threads].left)
      .store(std::atomic_ref(syscost_state.openings).load());
}

void give_thread_back(const Guard& /*guard*/, Thread& thread) {
  std::atomic_ref(thread.id).store(0);
  note_end(thread);
  std::atomic_ref(thread.is_used).store(0, std::memory_order_release);
}

void* take_memory(const Guard& /*guard*/, std::uint64_t bytes) {
  return take(bytes, kForShared);
}

Account* account_of(const Guard& /*guard*/, Thread& thread) {
  std::atomic_ref account(thread.account);
  Account* known = account.load(std::memory_order_relaxed);
  if (known != nullptr) return known;
  void* fresh = take(sizeof(Account), kForShared);
  Account* own = fresh != nullptr ? static_cast<Account*>(fresh) : &syscost_state.shared_account;
  // A signal handler of this thread may have done the same in between, and counted: the first wins.
  return account.compare_exchange_strong(known, own) ? own : known;
}

Cell* cell_of(const Guard& /*guard*/, Account& account, std::uint32_t bank, std::uint32_t slot) {
  return fill(account, account.cells[bank][slot], sizeof(Cell));
}

std::uint64_t* errors_of(const Guard& /*guard*/, Account& account, std::uint32_t bank) {
  return fill(account, account.errors[bank], kErrorSlots * sizeof(std::uint64_t));
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): the stub's names
extern "C" {
syscost::signal_safe::State syscost_state{};
syscost::signal_safe::Thread syscost_threads[syscost::signal_safe::kThreads]{};
syscost::signal_safe::Thread syscost_foreign_thread{.lane = &syscost::signal_safe::never_armed};
syscost::signal_safe::Thread syscost_child_thread{.lane = &syscost::signal_safe::never_armed};
char syscost_selector = 0;
char syscost_forbids_ticks = 0;
char syscost_any_armed = 0;
char syscost_is_alone = 0;
char syscost_has_older_threads = 0;
char syscost_gs_was_changed = 0;
}
// NOLINTEND(readability-identifier-naming)
