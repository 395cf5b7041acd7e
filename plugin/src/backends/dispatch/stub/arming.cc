// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/arming.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/frames.h"
#include "backends/dispatch/stub/signals.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/commands/stub/command.h"
#include "extras/faults/stub/rules.h"
#include "extras/where/stub/common/where.h"
#include "extras/where/stub/unwind.h"

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
  // If two threads come here at once, one unmaps: the other would unmap a later mapping in that place.
  if (arena == nullptr || wanted >= before || !end.compare_exchange_strong(before, wanted)) return;
  syscost_raw_syscall(SYS_munmap, reinterpret_cast<long>(arena + wanted), static_cast<long>(before - wanted));
}

}  // namespace

void give_unused_memory_back(const Guard& /*guard*/) {
  if (syscost_state.filters != 0) return;
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
    // The counts that its last thread made in the window, or in the one before, which may not have been read yet, are
    // told apart from the next one's, unless both began since that window did.
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
char syscost_denies_ticks = 0;
char syscost_any_armed = 0;
char syscost_is_alone = 0;
char syscost_has_older_threads = 0;
char syscost_gs_was_changed = 0;
}
// NOLINTEND(readability-identifier-naming)

namespace syscost::signal_safe {
namespace {

constexpr std::uint32_t kOnStack = 1;  // SS_ONSTACK
constexpr std::uint64_t kLeastStack = 2048;

long set_stack(const Stack* fresh, Stack* before) {
  return syscost_raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(fresh), reinterpret_cast<long>(before));
}

/// `stack` as sigaltstack shows it to code that runs at `stack_pointer`.
Stack shown(const Stack& stack, std::uint64_t stack_pointer) {
  std::uint32_t flags = stack.flags & kAutodisarm;
  if (stack.bytes == 0) flags |= kDisabled;
  if (is_on(stack, stack_pointer)) flags |= kOnStack;
  return {stack.start, flags, 0, stack.bytes};
}

}  // namespace

void take_stack(const Guard& /*guard*/, Thread& thread) {
  thread.own_stack = kNoStack;
  if (thread.signal_stack.bytes == 0) return;
  Stack before = kNoStack;
  // It cannot be changed by code that runs on it; the next dispatched call then does it (interrupted_thread).
  if (set_stack(&thread.signal_stack, &before) < 0 && set_stack(nullptr, &before) < 0) return;
  if (before.start == thread.signal_stack.start) return;
  thread.own_stack = before;
  thread.own_stack.flags &= ~kOnStack;
}

void give_stack_back(const Guard& /*guard*/, const Thread& thread) {
  if (thread.signal_stack.bytes != 0) set_stack(&thread.own_stack, nullptr);
}

int error_of(const Stack& stack) {
  const std::uint32_t mode = stack.flags & ~kAutodisarm;
  if (mode != 0 && mode != kOnStack && mode != kDisabled) return EINVAL;
  return mode != kDisabled && stack.bytes < kLeastStack ? ENOMEM : 0;
}

void believe(Thread& thread, const Stack& stack) {
  thread.own_stack.flags = stack.flags;
  const bool is_off = (stack.flags & kDisabled) != 0;
  thread.own_stack.start = is_off ? 0 : stack.start;
  thread.own_stack.bytes = is_off ? 0 : stack.bytes;
  if ((stack.flags & kAutodisarm) != 0) thread.hides_stack = 1;
}

// The kernel is asked in any case: it says whether there is memory at `old`, and the call is one call.
void prepare_sigaltstack(Call& call) {
  Thread& thread = *call.thread;
  call.note = 0;
  if (thread.signal_stack.bytes == 0) return;
  call.used.rdi = 0;
  if (call.given.rdi == 0) return;
  int error = 0;
  if (!read_user(call.given.rdi, call.stack)) {
    error = EFAULT;
  } else if (is_on(thread.own_stack, call.stack_pointer)) {
    error = EPERM;
  } else {
    error = error_of(call.stack);
  }
  if (error != 0) call.used.rsi = 0;
  call.note = error != 0 ? static_cast<std::uint64_t>(error) << 1 : 1;
}

void finish_sigaltstack(Call& call) {
  Thread& thread = *call.thread;
  if (thread.signal_stack.bytes == 0) return;
  if (call.note > 1) {
    call.result = -(call.note >> 1);
    return;
  }
  const Stack before = shown(thread.own_stack, call.stack_pointer);
  // Where `old` cannot be written the kernel has set the new one all the same.
  const auto result = static_cast<std::int64_t>(call.result);
  if (call.note == 1 && (result == 0 || result == -EFAULT)) believe(thread, call.stack);
  if (result == 0 && call.given.rsi != 0 && !write_user(call.given.rsi, before)) {
    call.result = ~std::uint64_t{EFAULT} + 1;
  }
}

namespace {

struct TrapStack {
  unsigned char room[kTrapStackBytes - 256];  ///< For the stub's C code.
  Call call;
};
// Kept in step with stub_x86_64.S.
static_assert(sizeof(TrapStack) == kTrapStackBytes && kTrapStackBytes == 2048 && kTrapStacks == 4);
static_assert(offsetof(TrapStack, call) == 1792);

/// They lie above the thread's signal stack, the first one next to it. So there is room below one of them for a frame
/// that the kernel puts there, for a handler that was installed while the thread was not watched.
TrapStack* stacks_of(const Thread& thread) {
  return reinterpret_cast<TrapStack*>(thread.signal_stack.start + thread.signal_stack.bytes);
}

Call* call_at(const Thread& thread, std::uint64_t stack_pointer) {
  if (thread.signal_stack.bytes == 0) return nullptr;
  TrapStack* stacks = stacks_of(thread);
  const std::uint64_t offset = stack_pointer - reinterpret_cast<std::uint64_t>(stacks);
  return offset < kTrapStacks * kTrapStackBytes ? &stacks[offset / kTrapStackBytes].call : nullptr;
}

/// The flags that `lahf` and `seto` keep.
std::uint64_t kept_flags(std::uint64_t flags) {
  constexpr unsigned kOverflow = 11;
  return (flags & 0xff) << 8 | (flags >> kOverflow & 1);
}

}  // namespace

bool enter_on_trap_stack(const Guard& /*guard*/, SignalFrame& frame, Thread& thread, std::uint64_t return_address) {
  if (thread.signal_stack.bytes == 0) return false;
  TrapStack* stacks = stacks_of(thread);
  std::uint64_t i = 0;
  while (i < kTrapStacks && stacks[i].call.thread != nullptr) ++i;
  if (i == kTrapStacks) return false;
  Call& call = stacks[i].call;
  std::uint64_t* registers = frame.registers;
  call.number = registers[REG_RAX];
  call.return_address = return_address;
  call.flags = kept_flags(registers[REG_EFL]);
  call.stack_pointer = registers[REG_RSP];
  call.thread = &thread;
  // Where what the stub calls will return to (cancel.cc); what stood there was that of another call.
  write_at<std::uint64_t>(reinterpret_cast<std::uint64_t>(&call) - 8, 0);
  registers[REG_RSP] = reinterpret_cast<std::uint64_t>(&call);
  registers[REG_RIP] = reinterpret_cast<std::uint64_t>(syscost_stub_trapped);
  return true;
}

void free_trap_stacks(Thread& thread) {
  if (thread.signal_stack.bytes == 0) return;
  for (std::uint64_t i = 0; i < kTrapStacks; ++i) stacks_of(thread)[i].call.thread = nullptr;
}

std::uint64_t trap_stacks_in_use(const Thread& thread) {
  std::uint64_t in_use = 0;
  if (thread.signal_stack.bytes == 0) return in_use;
  for (std::uint64_t i = 0; i < kTrapStacks; ++i) {
    if (stacks_of(thread)[i].call.thread != nullptr) in_use |= 1ULL << i;
  }
  return in_use;
}

void keep_trap_stacks(Thread& thread, std::uint64_t in_use) {
  if (thread.signal_stack.bytes == 0) return;
  for (std::uint64_t i = 0; i < kTrapStacks; ++i) {
    if ((in_use >> i & 1) == 0) stacks_of(thread)[i].call.thread = nullptr;
  }
}

bool holds_trapped_calls(const Guard& /*guard*/, const Thread* but) {
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    const Thread& thread = syscost_threads[i];
    if (&thread == but) continue;
    if (std::atomic_ref(const_cast<std::uint32_t&>(thread.is_used)).load() == 0 || thread.signal_stack.bytes == 0)
      continue;
    for (std::uint64_t k = 0; k < kTrapStacks; ++k) {
      if (std::atomic_ref(stacks_of(thread)[k].call.thread).load() != nullptr) return true;
    }
  }
  return false;
}

Call* call_above(std::uint64_t stack_pointer) {
  stack_pointer = stack_pointer_outside(stack_pointer);
  const auto arena = reinterpret_cast<std::uint64_t>(syscost_state.arena);
  if (stack_pointer - arena >= syscost_state.arena_bytes) return nullptr;
  // Nearly always its own; but a coroutine that a handler has left may go on in another thread.
  for (std::uint32_t i = 0; i < syscost_state.thread_high; ++i) {
    Call* call = call_at(syscost_threads[i], stack_pointer);
    if (call != nullptr) return call;
  }
  return nullptr;
}

std::uint64_t users_stack_pointer(const SignalFrame& frame) {
  const std::uint64_t stack_pointer = stack_pointer_outside(frame.registers[REG_RSP]);
  const Call* call = call_above(stack_pointer);
  return call != nullptr ? call->stack_pointer : stack_pointer;
}

namespace {

constexpr long kOff = 0;
constexpr long kOn = 1;

}  // namespace

long arm_calling_thread(const Guard& guard, Thread& thread) {
  // gs first: the next call may already come through the stub.
  set_gs_base(&thread);
  take_stack(guard, thread);
  const long id = syscost_raw_syscall(SYS_gettid);
  std::atomic_ref(thread.id).store(id > 0 ? static_cast<std::uint32_t>(id) : 0);
  const long begin = reinterpret_cast<long>(syscost_undispatched_begin);
  // The kernel looks at the byte after the instruction.
  const long length = reinterpret_cast<long>(syscost_undispatched_end) + 1 - begin;
  const long result =
      syscost_raw_syscall(SYS_prctl, kSetDispatch, kOn, begin, length, reinterpret_cast<long>(&syscost_selector));
  if (result >= 0) return result;
  std::atomic_ref(thread.id).store(0);
  give_stack_back(guard, thread);
  set_gs_base(nullptr);
  return result;
}

void disarm_calling_thread(const Guard& guard, bool is_last) {
  Thread* thread = calling_thread(guard);
  if (thread != nullptr) {
    std::atomic_ref(thread->id).store(0);
    give_stack_back(guard, *thread);
  }
  syscost_raw_syscall(SYS_prctl, kSetDispatch, kOff, 0, 0, 0);
  // A child that is born meanwhile inherits this base: no record counts it.
  set_gs_base(&syscost_foreign_thread);
  if (thread != nullptr) leave_sigsys_to_kernel(*thread, is_last);
}

namespace {

/// The record at `base`, of the gs register; null where that is none.
Thread* record_at(const void* base) {
  auto* const thread = static_cast<Thread*>(const_cast<void*>(base));
  return thread >= syscost_threads && thread < syscost_threads + kThreads ? thread : nullptr;
}

}  // namespace

Thread* calling_thread(const Guard& /*guard*/) {
  return record_at(gs_base());
}

bool is_being_born(const Guard& guard) {
  Thread* thread = calling_thread(guard);
  if (thread == nullptr) return false;
  const std::uint32_t id = std::atomic_ref(thread->id).load();
  return id != 0 && syscost_raw_syscall(SYS_gettid) != static_cast<long>(id);
}

bool is_lent(const void* base) {
  const Thread* const thread = record_at(base);
  return thread != nullptr && thread->waits_for_child != 0;
}

long number_for_memory() {
  Thread* const thread = record_at(gs_base());
  const std::uint32_t id = thread != nullptr ? std::atomic_ref(thread->id).load() : 0;
  return id != 0 ? static_cast<long>(id) : syscost_state.process;
}

bool is_in_child() {
  const void* const base = gs_base();
  return base == &syscost_child_thread || is_lent(base);
}

void stand_aside(const Guard& guard, StoodAside reason) {
  if (syscost_state.stood_aside != StoodAside::no) return;
  if (command_counts != nullptr) add_shared(command_counts->aside[static_cast<std::uint32_t>(reason)], 1);
  const bool is_about_sigsys = reason == StoodAside::own_dispatch || reason == StoodAside::own_sigsys_file;
  // The dispatch of a child is its own, and so are its actions, if it was not cloned to share them.
  if (is_about_sigsys && is_in_child()) return;
  syscost_state.stood_aside = reason;
  std::atomic_ref(syscost_selector).store(0);
  // Patched sites lead to the stub all the same, which stamps while anything is armed. The program may deny itself the
  // time-stamp counter, now or later, as strict mode of seccomp does, by a call that the stub does not see any more.
  std::atomic_ref(syscost_denies_ticks).store(1);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) std::atomic_ref(syscost_state.lanes[lane].control).store(0);
  Thread* thread = calling_thread(guard);
  if (thread != nullptr) {
    leave_sigsys_to_kernel(*thread, is_about_sigsys);
    thread->blocks_sigsys = 0;
  }
  if (!is_about_sigsys) return;
  give_signals_back(guard, !holds_trapped_calls(guard, thread));
  if (thread != nullptr) give_stack_back(guard, *thread);
}

}  // namespace syscost::signal_safe
