// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/record.h"

#include <atomic>

#include "backends/dispatch/stub/arming.h"
#include "backends/dispatch/stub/bytes.h"
#include "backends/dispatch/stub/cells.h"
#include "backends/dispatch/stub/frames.h"
#include "extras/commands/stub/command.h"
#include "extras/trace/stub/trace.h"
#include "extras/where/stub/call_stacks.h"

namespace syscost::signal_safe {
namespace {

std::uint64_t load(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

// ---- the cells ------------------------------------------------------------------------------------------------------

/// False if there is no cell: the call is lost.
bool count(const Guard& guard, Account& account, std::uint32_t bank, std::uint32_t slot, const Call& call,
           const Outcome& outcome) {
  Cell* cell = cell_of(guard, account, bank, slot);
  Account* home = cell != nullptr ? &account : &syscost_state.shared_account;
  if (cell == nullptr) cell = cell_of(guard, *home, bank, slot);
  if (cell == nullptr) {
    add(syscost_state.lost, 1, true);
    return false;
  }
  const bool is_shared = home->is_shared;
  set_bit(home->dirty[bank], slot, is_shared);
  if (call.is_altered != 0) add(cell->altered, 1, is_shared);
  const syscost_byte_source source = byte_source_of(load(syscost_state.directory.syscall_of[slot]));
  std::atomic_ref(cell->mark).store(mark_of(source), std::memory_order_relaxed);
  if (outcome.has_latency) {
    add_latency(*cell, outcome.latency_ns, is_shared);
  } else {
    add(cell->calls_untimed, 1, is_shared);
  }
  if (outcome.error == 0) {
    count_bytes(*cell, source, call, is_shared);
    return true;
  }
  const std::uint32_t error_slot =
      error_slot_of(syscost_state.directory, slot, static_cast<std::uint32_t>(outcome.error));
  std::uint64_t* errors = error_slot < kErrorSlots ? errors_of(guard, *home, bank) : nullptr;
  if (errors == nullptr) {
    add(syscost_state.lost, 1, true);
    return true;
  }
  set_bit(home->dirty_errors[bank], error_slot, is_shared);
  add(errors[error_slot], 1, is_shared);
  return true;
}

bool keep_if_wanted(const Guard& guard, const Traced& traced) {
  return syscost_trace_mode == TraceMode::on && keep_event(guard, traced);
}

/// An event of a call that was counted in `account`, if there is a trace.
void trace(const Guard& guard, const Traced& traced, Account& account) {
  if (syscost_trace_mode == TraceMode::off) return;
  if (!keep_if_wanted(guard, traced)) add(account.unkept[bank_of(traced.returned)], 1, account.is_shared);
}

/// The same, where it must be quick.
__attribute__((always_inline)) inline void trace_common(const Guard& guard, const Traced& traced, Account& account) {
  if (syscost_trace_mode == TraceMode::on && keep_common_event(traced)) [[likely]]
    return;
  trace(guard, traced, account);
}

void log_crossing(const Guard& guard, const Traced& traced, std::uint32_t slot, const Outcome& outcome) {
  const Call& call = traced.call;
  std::atomic_ref produced(syscost_state.log_produced);
  std::uint64_t index = produced.load();
  do {
    if (index - load(syscost_state.log_consumed) >= kLogRecords) {
      add(syscost_state.log_lost, 1, true);
      return;
    }
  } while (!produced.compare_exchange_weak(index, index + 1));
  LogRecord& entry = syscost_state.log[index % kLogRecords];
  entry.entered = call.control;
  entry.returned = traced.returned;
  entry.latency_ns = outcome.latency_ns;
  entry.slot = slot;
  entry.error = outcome.error;
  entry.has_latency = outcome.has_latency ? 1 : 0;
  ByteCount bytes;
  if (outcome.error == 0) {
    const syscost_byte_source source = byte_source_of(load(syscost_state.directory.syscall_of[slot]));
    bytes = bytes_of(source, call);
    if (maps_memory(source)) note_mapped();
  }
  entry.bytes = bytes.bytes;
  entry.bytes_second = bytes.second;
  entry.stack = traced.stack;
  entry.is_altered = call.is_altered;
  entry.thread = static_cast<std::uint32_t>(call.thread - syscost_threads);
  entry.born = entry.thread < kThreads ? syscost_state.lives[entry.thread].born : 0;
  // One that entered before any window is none of a window's calls.
  entry.is_kept = call.control != 0 && keep_if_wanted(guard, traced) ? 1 : 0;
  std::atomic_ref(entry.sequence).store(index + 1, std::memory_order_release);
}

Outcome outcome_of(const Call& call, std::uint64_t now, bool has_result) {
  Outcome outcome{};
  const auto result = static_cast<std::int64_t>(call.result);
  // int $0x80 returns 32 bits.
  const std::int64_t value = call.abi == 1 ? static_cast<std::int32_t>(result) : result;
  if (has_result && value < 0 && value >= -4095) outcome.error = static_cast<int>(-value);
  outcome.has_latency = has_result && call.control != 0 && syscost_state.ns_per_tick != 0;
  if (outcome.has_latency) outcome.latency_ns = now > call.start ? to_ns(now - call.start) : 0;
  return outcome;
}

/// For a process of a command (command.h).
void record_in_command(const Call& call, std::uint64_t now, bool has_result) {
  ProgramCounts& program = *program_counts;
  const std::uint32_t slot = slot_of(program.directory, call);
  if (slot == kNotSelected) return;
  if (slot >= kSlots) return add(command_counts->lost, 1, true);
  const Outcome outcome = outcome_of(call, now, has_result);
  if (outcome.has_latency) {
    add_latency(program.cells[slot], outcome.latency_ns, true);
  } else {
    add(program.cells[slot].calls_untimed, 1, true);
  }
  if (outcome.error == 0) {
    count_bytes(program.cells[slot], byte_source_of(load(program.directory.syscall_of[slot])), call, true);
    return;
  }
  const std::uint32_t error_slot = error_slot_of(program.directory, slot, static_cast<std::uint32_t>(outcome.error));
  add(error_slot < kErrorSlots ? program.errors[error_slot] : command_counts->lost, 1, true);
}

/// All but the announcement. Kept out of the way of the common case.
__attribute__((noinline)) void record_any(const Guard& guard, const Call& call, std::uint64_t now, bool has_result,
                                          FileKinds kinds = 0) {
  Lane& lane = *call.thread->lane;
  const Control control = load(lane.control);
  if (control == 0) return;
  if (program_counts != nullptr) return record_in_command(call, now, has_result);
  const std::uint32_t slot = slot_of(syscost_state.directory, call, kinds);
  if (slot == kNotSelected) return;
  if (slot >= kSlots) {
    add(syscost_state.lost, 1, true);
    return;
  }
  const Outcome outcome = outcome_of(call, now, has_result);
  if (control == call.control) {
    Account* account = lane.account != nullptr ? lane.account : account_of(guard, *call.thread);
    if (count(guard, *account, bank_of(control), slot, call, outcome)) {
      trace(guard, {call, now, control, 0, has_result}, *account);
    }
  } else {
    log_crossing(guard, {call, now, control, 0, has_result}, slot, outcome);
  }
}

// ---- with the call's stack ------------------------------------------------------------------------------------------

/// False where there is no memory: then the call is counted without its stack.
bool count_by_stack(const Guard& guard, Account& account, Control control, KeptUnwinding& kept, const Call& call,
                    const Outcome& outcome) {
  if (account.is_shared) return false;
  Place* place = counting_place(guard, account, control, kept);
  if (place == nullptr) return false;
  std::uint64_t* errors = nullptr;
  if (outcome.error != 0) {
    errors = error_of(*place, static_cast<std::uint32_t>(outcome.error));
    if (errors == nullptr) return false;
  }
  if (call.is_altered != 0) add(place->cell.altered, 1, false);
  if (outcome.has_latency) {
    add_latency(place->cell, outcome.latency_ns, false);
  } else {
    add(place->cell.calls_untimed, 1, false);
  }
  if (errors != nullptr) {
    add(*errors, 1, false);
  } else {
    count_bytes(place->cell, source_of_mark(place->cell.mark), call, false);
  }
  return true;
}

/// As record_any(), for a recording that interrupts no other one of the thread.
__attribute__((noinline)) void record_with_stack(const Guard& guard, const Call& call, std::uint64_t now,
                                                 bool has_result) {
  Lane& lane = *call.thread->lane;
  const Control control = load(lane.control);
  if (control == 0) return;
  const std::uint32_t slot = slot_of(syscost_state.directory, call);
  if (slot == kNotSelected) return;
  if (slot >= kSlots) {
    add(syscost_state.lost, 1, true);
    return;
  }
  const Outcome outcome = outcome_of(call, now, has_result);
  KeptUnwinding* kept = stack_of(guard, call, slot);
  if (has_result && outcome.error == 0) note_openers(call, kept != nullptr ? kept->stack : 0);
  if (control != call.control) {
    if (kept == nullptr) add(syscost_where_state.beyond_limits, 1, true);
    log_crossing(guard, {call, now, control, kept != nullptr ? kept->stack : 0, has_result}, slot, outcome);
    return;
  }
  Account* account = lane.account != nullptr ? lane.account : account_of(guard, *call.thread);
  const bool has_stack = kept != nullptr && count_by_stack(guard, *account, control, *kept, call, outcome);
  if (!has_stack) add(syscost_where_state.beyond_limits, 1, true);
  if (has_stack || count(guard, *account, bank_of(control), slot, call, outcome)) {
    trace(guard, {call, now, control, has_stack ? kept->stack : 0, has_result}, *account);
  }
}

/// The common case of that: a call that succeeded in the segment it entered, and of which the thread knows the stack
/// and the place in that segment. False when it is another.
__attribute__((always_inline)) inline bool record_known_stack(const Guard& guard, const Call& call, std::uint64_t now) {
  const Lane& lane = *call.thread->lane;
  const Control control = load(lane.control);
  if (control != call.control || control == 0 || call.abi != 0) return false;
  if (static_cast<std::int64_t>(call.result) < 0 || now < call.start || syscost_state.ns_per_tick == 0) return false;
  const KeptUnwinding* kept = known_stack(call);
  if (kept == nullptr || kept->control != control) return false;
  Cell& cell = kept->place->cell;
  add_latency(cell, to_ns(now - call.start), false);
  if (cell.mark != kPlainMark) count_bytes(cell, source_of_mark(cell.mark), call, false);
  note_openers(call, kept->stack);
  if (syscost_trace_mode != TraceMode::off) [[unlikely]]
    trace_common(guard, {call, now, control, kept->stack, true}, *kept->account);
  return true;
}

/// The common case: a call of the usual table that succeeded in the segment it entered, and not the first of its kind.
/// False when it is another.
template <bool kIsTraced>
__attribute__((always_inline)) inline bool record_common(const Guard& guard, const Call& call, std::uint64_t now) {
  const Thread& thread = *call.thread;
  const Lane& lane = *thread.lane;
  const Control control = load(lane.control);
  if (control != call.control || control == 0 || call.number >= kNumbers || call.abi != 0) return false;
  if (static_cast<std::int64_t>(call.result) < 0 || now < call.start || syscost_state.ns_per_tick == 0) return false;
  const std::uint32_t slot = syscost_state.directory.slot_of[call.number] - 1;
  Account* account = lane.account != nullptr ? lane.account : thread.account;
  if (slot >= kSlots || account == nullptr || account->is_shared) return false;
  Cell* cell = account->cells[bank_of(control)][slot];
  if (cell == nullptr || cell->mark == 0) return false;
  add_latency(*cell, to_ns(now - call.start), false);
  if (cell->mark != kPlainMark) count_bytes(*cell, source_of_mark(cell->mark), call, false);
  if constexpr (kIsTraced) trace_common(guard, {call, now, control, 0, true}, *account);
  return true;
}

// ---- the announcement -----------------------------------------------------------------------------------------------

/// A full barrier: if this thread does not see another thread's later store, that thread sees this thread's store. It
/// costs as much as a stamp. A thread that is alone needs none. It checks after its store: only this thread can make a
/// second one, in a signal handler. A handler that ran before the check has cleared syscost_is_alone; a thread made
/// later finds the store done, because its clone comes after the store.
inline void show_announcement() {
  asm volatile("" : : : "memory");
  if (std::atomic_ref(syscost_is_alone).load(std::memory_order_relaxed) == 0) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  asm volatile("" : : : "memory");
}

std::uint64_t announcement_of(const Call& call, std::uint64_t place) {
  return place << kNumberBits | (call.thread->ended & ((1U << kNumberBits) - 1));
}

/// Where a call lies, or would lie, on its caller's stack: of two at once that of a handler lies below.
std::uint64_t place_of(const Call& call) {
  return call.stack_pointer - kCallFrame;
}

/// True when `outer`, announced by this thread and not ended, never will be: a handler interrupted it and left by
/// longjmp. A handler that did return would run below it, or on a signal stack.
__attribute__((noinline)) bool was_left(std::uint64_t outer, const Call& call, std::uint64_t place) {
  if (place < outer >> kNumberBits || call.thread->hides_stack != 0) return false;
  return !is_on(call.thread->own_stack, place);
}

/// How much is kept of a call.
enum class Watched { counts, trace, all, kinds };

/// Once for the stub, once for the others: the stub's own shall hold all of it. Whether there is a trace is decided
/// before: it begins and ends while nothing is armed.
template <Watched kWatched>
__attribute__((always_inline)) inline void record_announced(const Guard& guard, const Call& call, std::uint64_t now,
                                                            std::uint64_t place, bool has_result, FileKinds kinds = 0) {
  Thread& thread = *call.thread;
  const bool with_stack = kWatched == Watched::all && syscost_where != 0;
  const bool unmaps = with_stack && may_unmap(call);
  // The common cases do not count it. The stub's own way of the common call has none.
  const bool is_common = has_result && (kWatched != Watched::all || call.is_altered == 0);
  // Also of calls that are not counted.
  if (unmaps && static_cast<std::int64_t>(call.result) >= 0) [[unlikely]]
    note_unmapping(call);
  if (load(thread.lane->control) == 0) return;
  // Announced before the control is read. So if a reader has stored a new control and sees no recording under way, no
  // thread writes to the old bank any more. This is not one step: a handler in between puts back what it found.
  std::atomic_ref open(thread.open);
  std::uint64_t outer = open.load(std::memory_order_relaxed);
  open.store(announcement_of(call, place), std::memory_order_relaxed);
  show_announcement();
  if (outer != 0 && was_left(outer, call, place)) [[unlikely]]
    outer = 0;
  // It interrupts a recording, so its stack is not looked for.
  if (with_stack && outer != 0 && static_cast<std::int64_t>(call.result) >= 0) [[unlikely]]
    note_openers(call, 0);
  if (with_stack && outer == 0) {
    if (!is_common || unmaps || !record_known_stack(guard, call, now)) [[unlikely]]
      record_with_stack(guard, call, now, has_result);
  } else if (kWatched == Watched::kinds) {
    record_any(guard, call, now, has_result, kinds);
  } else if (!is_common || !record_common<kWatched != Watched::counts>(guard, call, now)) [[unlikely]] {
    record_any(guard, call, now, has_result);
  }
  add(thread.ended, 1, false);
  // The call that this one interrupted is under way again.
  open.store(outer, std::memory_order_release);
}

}  // namespace

void record(const Guard& guard, const Call& call, std::uint64_t now) {
  record_announced<Watched::all>(guard, call, now, place_of(call), true);
}

void record_with_kinds(const Guard& guard, const Call& call, std::uint64_t now, FileKinds kinds) {
  record_announced<Watched::kinds>(guard, call, now, place_of(call), true, kinds);
}

std::uint32_t stack_before_call(const Guard& guard, const Call& call) {
  Thread& thread = *call.thread;
  std::atomic_ref open(thread.open);
  const std::uint64_t outer = open.load(std::memory_order_relaxed);
  // The walker may be in use.
  if (std::atomic_ref(syscost_where_state.is_ready).load(std::memory_order_acquire) == 0 || outer != 0) return 0;
  if (syscost_where == 0) {
    // Nothing notes that code or memory goes (note_unmapping), so what was kept may not hold.
    std::atomic_ref(syscost_where_state.code_epoch).fetch_add(1);
    std::atomic_ref(syscost_where_state.memory_epoch).fetch_add(1);
  }
  open.store(announcement_of(call, place_of(call)), std::memory_order_relaxed);
  show_announcement();
  const KeptUnwinding* kept = stack_of(guard, call, slot_of(syscost_state.directory, call));
  const std::uint32_t stack = kept != nullptr ? kept->stack : 0;
  add(thread.ended, 1, false);
  open.store(outer, std::memory_order_release);
  return stack;
}

void record_return(const Guard& guard, const Call& call, std::uint64_t stack_pointer) {
  record_announced<Watched::all>(guard, call, 0, stack_pointer, false);
}

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): the stub's names
extern "C" {
/// If there is a trace, or calls have stacks.
__attribute__((noinline)) void syscost_record_observed(syscost::signal_safe::Call* call, std::uint64_t now) {
  const syscost::signal_safe::Guard guard = syscost::signal_safe::EntryPoint::enter();
  // The stub leaves rbp as the program has it.
  call->frame_pointer = *static_cast<const std::uint64_t*>(__builtin_frame_address(0));
  using syscost::signal_safe::Watched;
  syscost::signal_safe::record_announced<Watched::all>(guard, *call, now, syscost::signal_safe::place_of(*call), true);
}

/// If there is a trace, and calls have no stacks.
__attribute__((noinline)) void syscost_record_traced(const syscost::signal_safe::Call* call, std::uint64_t now) {
  using syscost::signal_safe::Watched;
  const syscost::signal_safe::Guard guard = syscost::signal_safe::EntryPoint::enter();
  syscost::signal_safe::record_announced<Watched::trace>(guard, *call, now, syscost::signal_safe::place_of(*call),
                                                         true);
}

__attribute__((noinline)) void syscost_record_plain(const syscost::signal_safe::Call* call, std::uint64_t now) {
  const syscost::signal_safe::Guard guard = syscost::signal_safe::EntryPoint::enter();
  syscost::signal_safe::record_announced<syscost::signal_safe::Watched::counts>(
      guard, *call, now, syscost::signal_safe::place_of(*call), true);
}

void syscost_record(syscost::signal_safe::Call* call, std::uint64_t now) {
  // One decision for both: nearly always there is neither a trace nor a stack. Both are jumps: the frame is theirs.
  if ((static_cast<char>(syscost_trace_mode) | syscost_where) != 0) [[unlikely]]
    return syscost_where != 0 ? syscost_record_observed(call, now) : syscost_record_traced(call, now);
  syscost_record_plain(call, now);
}
}
// NOLINTEND(readability-identifier-naming)
