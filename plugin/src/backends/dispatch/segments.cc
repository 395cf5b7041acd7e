// SPDX-License-Identifier: MIT
#include "backends/dispatch/segments.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <span>
#include <utility>

#include "backends/common/counts.h"
#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/file_kinds.h"
#include "extras/where/stub/common/where.h"
#include "os/memory.h"
#include "os/spin_lock.h"
#include "syscost/histogram.h"

namespace syscost::dispatch {
namespace {

using signal_safe::Account;
using signal_safe::Cell;
using signal_safe::Thread;

static_assert(signal_safe::kBuckets == kHistogramBuckets && signal_safe::kAbis == kAbiCount);

template <class T>
T load(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// Calls visit(account, thread) for each account that may hold calls of `lane`. `thread` is the thread that counts in
/// the account. It is null if the account is that of the lane, or if several threads count in it.
template <class Visit>
void visit_accounts(Lane lane, Visit visit) {
  if (lane != Lane::kProcess) {
    visit(*syscost_state.lanes[static_cast<std::uint32_t>(lane)].account, nullptr);
    return;
  }
  const std::uint32_t high = load(syscost_state.thread_high);
  for (std::uint32_t i = 0; i < high; ++i) {
    Account* account = load(syscost_threads[i].account);
    if (account != nullptr && !account->is_shared) visit(*account, &syscost_threads[i]);
  }
  visit(syscost_state.shared_account, nullptr);
}

SyscallId syscall_of(std::uint32_t slot) {
  const std::uint64_t value = load(syscost_state.directory.syscall_of[slot]);
  SyscallId id{static_cast<Abi>(value >> 32 & 3), static_cast<std::uint32_t>(value)};
  if (const signal_safe::FileKinds kinds = signal_safe::kinds_of(value); kinds != 0) {
    constexpr unsigned kOtherAt = 8;
    id.detail.file = static_cast<FileKind>(kinds & 0xff);
    id.detail.to = static_cast<FileKind>(kinds >> kOtherAt);
    id.detail.is_kind_only = true;
  }
  return id;
}

Maker maker_of(const Opening& opening, const Thread* thread, std::uint32_t born) {
  if (thread == opening.thread) return Maker::opener;
  return born >= opening.number ? Maker::started : Maker::older;
}

void take_cell_of(Cell& cell, SyscallId id, Maker maker, Tally& into) {
  std::uint64_t timed = 0;
  for (std::size_t bucket = 0; cell.latency_least != 0 && bucket < signal_safe::kBuckets; ++bucket) {
    timed += cell.buckets[bucket];
    into.latency.add_bucket(bucket, cell.buckets[bucket]);
  }
  into.calls += timed + cell.calls_untimed;
  if (maker == Maker::started) into.by_started_threads += timed + cell.calls_untimed;
  if (maker == Maker::older) into.by_older_threads += timed + cell.calls_untimed;
  into.latency.add_exact(timed, cell.latency_sum_ns, cell.latency_least - 1, cell.latency_max_ns);
  add_bytes(into, id, cell.bytes, cell.bytes_second);
  into.altered += cell.altered;
  cell = {};
}

/// Takes the calls that were counted by their stacks. If memory is scarce, they are added up.
void take_places(Account& account, std::uint32_t bank, Maker maker, CallTable& into) {
  signal_safe::Places* places = load(account.places[bank]);
  if (places == nullptr) return;
  const bool is_scarce = is_quiet_memory_scarce();
  signal_safe::Place* place = load(places->first);
  for (std::uint32_t left = load(places->used); left > 0 && place != nullptr; --left, place = place->next_made) {
    SyscallId id = syscall_of(static_cast<std::uint32_t>(place->key >> 32));
    if (!is_scarce) id.detail.origin = static_cast<std::uint32_t>(place->key);
    Tally& tally = into.at(id);
    const std::uint64_t calls_before = tally.calls;
    take_cell_of(place->cell, id, maker, tally);
    if (is_scarce) std::atomic_ref(syscost_where_state.beyond_limits).fetch_add(tally.calls - calls_before);
    for (signal_safe::PlaceError* error = load(place->errors); error != nullptr; error = load(error->next)) {
      tally.errors.add(static_cast<int>(error->error), error->count);
      error->count = 0;
    }
  }
  std::atomic_ref(places->used).store(0);
}

void take_account(Account& account, std::uint32_t bank, Maker maker, CallTable& into) {
  take_places(account, bank, maker, into);
  drain_bits(account.dirty[bank], std::size(account.dirty[bank]), [&](std::uint32_t slot) {
    const SyscallId id = syscall_of(slot);
    take_cell_of(*account.cells[bank][slot], id, maker, into.at(id));
  });
  drain_bits(account.dirty_errors[bank], std::size(account.dirty_errors[bank]), [&](std::uint32_t error_slot) {
    const std::uint32_t error = load(syscost_state.directory.error_of[error_slot]);
    std::uint64_t& count = account.errors[bank][error_slot];
    into.at(syscall_of(error >> 16)).errors.add(static_cast<int>(error & 0xffff), count);
    count = 0;
  });
}

void deliver(const signal_safe::LogRecord& entry, const Lanes& lanes, CrossingSink& sink) {
  Crossing crossing;
  crossing.entered_in = signal_safe::generation_of(entry.entered);
  crossing.lane = Lane{signal_safe::lane_of(entry.entered)};
  crossing.returned_in = signal_safe::generation_of(entry.returned);
  crossing.returned_lane = Lane{signal_safe::lane_of(entry.returned)};
  crossing.id = syscall_of(entry.slot);
  crossing.id.detail.origin = entry.stack;
  crossing.error = entry.error;
  crossing.has_latency = entry.has_latency != 0;
  crossing.latency_ns = entry.latency_ns;
  add_bytes(crossing, entry.bytes, entry.bytes_second);
  crossing.is_altered = entry.is_altered != 0;
  crossing.is_kept = entry.is_kept != 0;
  crossing.maker = maker_of(lanes.opening(crossing.lane, signal_safe::bank_of(entry.entered)),
                            &syscost_threads[entry.thread], entry.born);
  sink.add(crossing);
}

}  // namespace

Segments::Segments()
    : log_position_(load(syscost_state.log_produced)),
      log_lost_before_(load(syscost_state.log_lost)),
      unseen_threads_before_(load(syscost_state.unseen_threads)) {
  std::atomic_ref(syscost_state.log_consumed).store(log_position_);
}

std::uint64_t Segments::wait_for_recordings(std::uint64_t max_spins) {
  std::uint64_t misplaced = 0;
  const auto* self = static_cast<const Thread*>(signal_safe::gs_base());
  const std::uint32_t high = load(syscost_state.thread_high);
  for (std::uint32_t i = 0; i < high; ++i) {
    Thread& thread = syscost_threads[i];
    if (&thread == self || load(thread.is_used) == 0) continue;
    std::uint64_t open = load(thread.open);
    if (thread.given_up != 0 && open != thread.given_up) {
      ++misplaced;
      thread.given_up = 0;
    }
    for (std::uint64_t spin = 0; open != 0 && open != thread.given_up; ++spin) {
      if (spin >= max_spins) {
        thread.given_up = open;
        ++misplaced;
        break;
      }
      relax_cpu();
      open = load(thread.open);
    }
  }
  return misplaced;
}

bool Segments::waits_for_any() {
  const std::uint32_t high = load(syscost_state.thread_high);
  for (std::uint32_t i = 0; i < high; ++i) {
    const Thread& thread = syscost_threads[i];
    if (thread.given_up != 0 && load(thread.open) == thread.given_up) return true;
  }
  return false;
}

bool Segments::take(Lane lane, std::uint32_t bank, const Lanes& lanes, CallTable& into) {
  bool is_mixed = false;
  visit_accounts(lane, [&](Account& account, const Thread* its_thread) {
    const Thread* const thread = its_thread != nullptr ? its_thread : lanes.thread_of(lane, bank);
    is_mixed = is_mixed || (account.is_shared && account.dirty[bank][0] + account.dirty[bank][1] != 0);
    const bool is_known = thread != nullptr;
    take_account(
        account, bank,
        is_known ? maker_of(lanes.opening(lane, bank), thread, load(syscost_state.lives[thread - syscost_threads].born))
                 : Maker::opener,
        into);
  });
  return !is_mixed;
}

std::uint64_t Segments::take_unkept(Lane lane, std::uint32_t bank) {
  std::uint64_t unkept = 0;
  visit_accounts(lane, [&](Account& account, const Thread*) { unkept += std::exchange(account.unkept[bank], 0); });
  return unkept;
}

void Segments::clear_leftovers(Lane lane, std::uint32_t bank) {
  visit_accounts(lane, [&](Account& account, const Thread*) {
    drain_bits(account.dirty[bank], std::size(account.dirty[bank]),
               [&](std::uint32_t slot) { *account.cells[bank][slot] = {}; });
    drain_bits(account.dirty_errors[bank], std::size(account.dirty_errors[bank]),
               [&](std::uint32_t error_slot) { account.errors[bank][error_slot] = 0; });
    account.unkept[bank] = 0;
  });
}

void Segments::take_crossings(const Lanes& lanes, CrossingSink& sink) {
  const std::uint64_t produced = load(syscost_state.log_produced);
  bool all_before_delivered = true;
  for (std::uint64_t position = log_position_; position < produced; ++position) {
    signal_safe::LogRecord& entry = syscost_state.log[position % signal_safe::kLogRecords];
    const std::uint64_t sequence = load(entry.sequence);
    if (sequence == position + 1) {
      deliver(entry, lanes, sink);
      std::atomic_ref(entry.sequence).store(sequence | signal_safe::kDelivered);
    } else if (sequence != ((position + 1) | signal_safe::kDelivered)) {
      // It is being written. If half a log later it is still not there, it is given up, because others need the room.
      if (produced - position < signal_safe::kLogRecords / 2) {
        all_before_delivered = false;
      } else {
        ++log_gaps_;
      }
    }
    if (all_before_delivered) log_position_ = position + 1;
  }
  std::atomic_ref(syscost_state.log_consumed).store(log_position_, std::memory_order_release);
}

std::uint64_t Segments::lost() const {
  const std::uint64_t unseen_threads = load(syscost_state.unseen_threads) - unseen_threads_before_;
  return load(syscost_state.lost) + unseen_threads + load(syscost_state.log_lost) - log_lost_before_ + log_gaps_;
}

namespace {

using signal_safe::Control;
using signal_safe::kLanes;

signal_safe::Lane& shared(Lane lane) {
  return syscost_state.lanes[static_cast<std::uint32_t>(lane)];
}

// Sequentially consistent: the threads' announcements are read only after this is visible.
void store(Control& control, Control value) {
  std::atomic_ref(control).store(value, std::memory_order_seq_cst);
}

}  // namespace

std::optional<AcquiredLane> Lanes::acquire(Thread& thread) {
  std::lock_guard lock(owners_lock_);
  const auto held = static_cast<std::uint32_t>(thread.lane - syscost_state.lanes);
  if (held != 0) return AcquiredLane{Lane{held}};
  for (std::uint32_t lane = 1; lane < kLanes; ++lane) {
    State& own = lanes_[lane];
    // A thread that ended inside a scope has left its record, or another thread has it by now.
    const bool was_left = own.owner != nullptr && (std::atomic_ref(own.owner->is_used).load() == 0 ||
                                                   own.owner->lane != &syscost_state.lanes[lane]);
    if (own.owner != nullptr && !was_left) continue;
    // That thread's record may be this one: records are used again.
    own.owner = &thread;
    // The lane is not armed yet, so the thread only reads another control word from now on.
    std::atomic_ref(thread.lane).store(&syscost_state.lanes[lane]);
    return AcquiredLane{Lane{lane}, was_left};
  }
  return std::nullopt;
}

Generation Lanes::boundary(Lane lane, Next next) {
  State& own = lanes_[static_cast<std::uint32_t>(lane)];
  own.ended_bank = own.bank;
  Control& control = shared(lane).control;
  if (next == Next::kArm) {
    own.bank ^= 1;
    own.opening[own.bank] = opening_;
    own.thread[own.bank] = own.owner;
    Segments::clear_leftovers(lane, own.bank);
    ++generation_;
    if (syscost_denies_ticks != 0) return generation_;  // armed, the stub would read the clock
    std::atomic_ref(syscost_any_armed).fetch_or(signal_safe::kLaneArmed);
    store(control, signal_safe::control_of(generation_, static_cast<std::uint32_t>(lane), own.bank));
    return generation_;
  }
  store(control, 0);
  const std::span all(syscost_state.lanes, kLanes);
  if (std::none_of(all.begin(), all.end(), [](const signal_safe::Lane& one) { return one.control != 0; })) {
    std::atomic_ref(syscost_any_armed).fetch_and(static_cast<char>(~signal_safe::kLaneArmed));
  }
  if (next == Next::kFollowProcess) {
    std::lock_guard lock(owners_lock_);
    if (own.owner != nullptr && own.owner->lane == &shared(lane)) {
      std::atomic_ref(own.owner->lane).store(&syscost_state.lanes[0]);
    }
    own.owner = nullptr;
  }
  return 0;
}

void Lanes::open(const Thread* thread) {
  opening_ = {thread, std::atomic_ref(syscost_state.openings).fetch_add(1) + 1};
}

void disarm_every_lane() {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) store(syscost_state.lanes[lane].control, 0);
  std::atomic_ref(syscost_any_armed).fetch_and(static_cast<char>(~signal_safe::kLaneArmed));
}

}  // namespace syscost::dispatch
