// SPDX-License-Identifier: MIT
#include "backends/dispatch/lanes.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>

#include "backends/dispatch/segments.h"
#include "backends/dispatch/stub/marks.h"

namespace syscost::dispatch {
namespace {

using signal_safe::Control;
using signal_safe::kLanes;
using signal_safe::Thread;

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
    if (syscost_forbids_ticks != 0) return generation_;  // armed, the stub would read the clock
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
