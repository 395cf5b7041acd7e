// SPDX-License-Identifier: MIT
#include "core/window_book.h"

#include <algorithm>
#include <mutex>

#include "core/extensions.h"

namespace syscost {

WindowBook::WindowBook(Backend& backend, std::pmr::memory_resource& memory)
    : backend_(backend),
      keeper_(backend.extension<CallKeeper>()),
      programs_(backend.capabilities().programs ? backend.extension<ProgramReader>() : nullptr),
      memory_(memory),
      windows_(&memory),
      thread_lanes_(&memory),
      segment_(&memory),
      segment_programs_(&memory) {}

WindowBook::ThreadLane* WindowBook::find(Lane lane) {
  auto at = std::find_if(thread_lanes_.begin(), thread_lanes_.end(),
                         [&](const ThreadLane& candidate) { return candidate.lane == lane; });
  return at == thread_lanes_.end() ? nullptr : &*at;
}

bool WindowBook::process_window_running() const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [](const Window& window) { return window.held.reach == Reach::process && window.is_running(); });
}

// ---- boundaries -----------------------------------------------------------------------------------------------------

// Ends the running segment of every lane and starts the next ones. Thread lanes stay armed for their own windows. The
// process lane is first, because its boundary is what opens and closes the window.
void WindowBook::split_process(bool arm) {
  Generation ended = process_generation_;
  process_generation_ = backend_.boundary(Lane::kProcess, arm ? Next::kArm : Next::kDisarm);
  if (arm) latest_ = process_generation_;
  for (ThreadLane& thread : thread_lanes_) {
    if (!thread.is_muted()) continue_lane(thread);
  }
  if (ended != 0) {
    read_segment(Lane::kProcess, ended);
    if (programs_ != nullptr) read_programs(ended);
  }
  backend_.read_crossings(*this);
}

// Ends the running segment of a thread's lane, and starts the next one.
void WindowBook::continue_lane(ThreadLane& thread) {
  const Generation ended = thread.generation;
  thread.generation = backend_.boundary(thread.lane, thread.is_muted() ? Next::kDisarm : Next::kArm);
  latest_ = std::max(latest_, thread.generation);
  if (ended != 0) read_segment(thread.lane, ended);
}

// Calls of other programs in a segment of the process belong to every process window that holds the segment.
void WindowBook::read_programs(Generation ended) {
  programs_->read_programs(segment_programs_);
  for (Window& window : windows_) {
    if (window.held.holds(ended, Lane::kProcess)) window.programs.merge(segment_programs_);
  }
  segment_programs_.clear();
}

// Adds a segment that has ended to the windows that hold it.
void WindowBook::read_segment(Lane lane, Generation ended) {
  Window* only = nullptr;
  int holders = 0;
  for (Window& window : windows_) {
    if (!window.held.holds(ended, lane)) continue;
    only = &window;
    ++holders;
  }
  if (holders == 1) {
    backend_.read(lane, only->table);
    if (keeper_ != nullptr) only->unkept += keeper_->take_unkept(lane);
    return;
  }
  backend_.read(lane, segment_);
  const std::uint64_t unkept = keeper_ != nullptr ? keeper_->take_unkept(lane) : 0;
  for (Window& window : windows_) {
    if (!window.held.holds(ended, lane)) continue;
    window.table.merge(segment_);
    window.unkept += unkept;
  }
  segment_.clear();
}

void WindowBook::add(const Crossing& crossing) {
  for (Window& window : windows_) {
    if (!window.held.holds(crossing.returned_in, crossing.returned_lane)) continue;
    CallTable& table = crossing.program.empty() ? window.table : window.programs.at(crossing.program);
    Tally& tally = table.at(crossing.id);
    const bool was_passed_on = crossing.entered_in >= window.first_of_chain;
    if (!was_passed_on && !window.held.holds(crossing.entered_in, crossing.lane)) {
      ++tally.carried_in;
      continue;
    }
    switch (crossing.outcome) {
      case Crossing::Outcome::kCall:
        ++tally.calls;
        if (crossing.maker == Maker::started) ++tally.by_started_threads;
        if (crossing.maker == Maker::older) ++tally.by_older_threads;
        if (keeper_ != nullptr && !crossing.is_kept) ++window.unkept;
        tally.errors.add(crossing.error);
        tally.bytes += crossing.bytes;
        tally.bytes_released += crossing.bytes_released;
        if (crossing.is_short) ++tally.short_calls;
        if (crossing.is_sync_open) ++tally.sync_opens;
        if (crossing.is_kernel_file) ++tally.kernel_files;
        if (crossing.is_altered) ++tally.altered;
        break;
      case Crossing::Outcome::kRestart:
        ++tally.restarts;
        break;
      case Crossing::Outcome::kNoReturn:
        ++tally.no_return;
        break;
    }
    if (crossing.has_latency) tally.latency.add(crossing.latency_ns);
  }
}

// ---- windows --------------------------------------------------------------------------------------------------------

// A thread ended with windows open on `lane`: they hold no segment that begins from now on.
void WindowBook::abandon(Lane lane) {
  ThreadLane* thread = find(lane);
  if (thread == nullptr) return;
  thread->windows = thread->mutes = 0;
  for (Window& window : windows_) {
    if (window.held.reach == Reach::thread && window.held.lane == lane && window.is_running()) {
      window.held.stretches.back().end = latest_ + 1;
    }
  }
}

void WindowBook::stop(Window& window) const {
  if (window.is_running()) window.held.stretches.back().end = latest_ + 1;
}

// ---- deputies: before the boundary at which they change places, and after it ----

void WindowBook::step_in(Window* deputy) {
  if (deputy == nullptr || deputy->is_running()) return;
  deputy->tells_threads = deputy->tells_threads && tells_threads_;
  start(*deputy, latest_ + 1);
}

void WindowBook::note_change(Window* deputy, bool ran) {
  if (deputy == nullptr || deputy->is_running() == ran) return;
  const Losses now = backend_.losses();
  if (ran) {
    deputy->losses_at_rest = now;
  } else {
    deputy->losses_at_open.late += now.late - deputy->losses_at_rest.late;
    deputy->losses_at_open.lost += now.lost - deputy->losses_at_rest.lost;
  }
}

WindowBook::Window* WindowBook::open(Reach reach, Window* deputy) {
  AcquiredLane acquired{Lane::kProcess};
  if (reach == Reach::thread) {
    std::optional<AcquiredLane> free = backend_.acquire_lane();
    if (!free.has_value()) return nullptr;
    acquired = *free;
  }
  const Lane lane = acquired.lane;
  std::lock_guard guard(lock_);
  if (acquired.was_abandoned) abandon(lane);
  const bool deputy_ran = deputy != nullptr && deputy->is_running();
  if (deputy_ran) stop(*deputy);
  if (reach == Reach::process && !process_window_running()) tells_threads_ = backend_.tell_threads_apart();
  Window& window = windows_.emplace_back(reach, lane, memory_);
  window.losses_at_open = backend_.losses();
  window.held.stretches.reserve(2);
  // Later generations belong to the window. Those of other lanes do not, because holds() compares the lane.
  start(window, latest_ + 1);
  if (reach == Reach::process) {
    window.tells_threads = tells_threads_;
    split_process(true);
  } else if (ThreadLane* thread = find(lane)) {
    ++thread->windows;
    continue_lane(*thread);
  } else {
    thread_lanes_.push_back({lane, 1, 0});
    latest_ = thread_lanes_.back().generation = backend_.boundary(lane, Next::kArm);
  }
  // Late events of segments that end here are missing in the windows that hold those segments, not in this one.
  window.losses_at_open.late = backend_.losses().late;
  note_change(deputy, deputy_ran);
  return &window;
}

void WindowBook::close(Window* window, detail::CostData& into, Window* deputy) {
  std::lock_guard guard(lock_);
  if (window->held.reach == Reach::process) {
    // Choose the next segment without the window, but read the ending one with it, because it is still the window's.
    const bool deputy_ran = deputy != nullptr && deputy->is_running();
    const bool changes = window->is_running() || (deputy != nullptr && !deputy_ran);
    stop(*window);
    if (deputy != nullptr && !process_window_running()) tells_threads_ = backend_.tell_threads_apart();
    step_in(deputy);
    if (changes) split_process(process_window_running());
    note_change(deputy, deputy_ran);
  } else if (ThreadLane* thread = find(window->held.lane); thread != nullptr && window->is_running()) {
    Generation ended = thread->generation;
    window->held.stretches.back().end = latest_ + 1;
    if (--thread->windows == 0 && !thread->is_muted()) {
      give_back(*thread);
      read_segment(window->held.lane, ended);
    } else {
      continue_lane(*thread);
    }
    backend_.read_crossings(*this);
  }
  hand_out(window, into);
}

WindowBook::Window* WindowBook::replace(Window* ended, detail::CostData& into) {
  std::lock_guard guard(lock_);
  Window& window = windows_.emplace_back(Reach::process, Lane::kProcess, memory_);
  window.losses_at_open = backend_.losses();
  window.held.stretches.reserve(2);
  stop(*ended);
  tells_threads_ = backend_.tell_threads_apart();
  window.tells_threads = tells_threads_;
  start(window, latest_ + 1);
  window.first_of_chain = std::min(ended->first_of_chain, ended->held.stretches.front().first);
  split_process(true);
  window.losses_at_open.late = backend_.losses().late;
  pass_on_calls_in_flight(*ended, window);
  hand_out(ended, into);
  return &window;
}

void WindowBook::pass_on_calls_in_flight(Window& from, Window& to) const {
  const Capabilities can = backend_.capabilities();
  if (!can.entries || !can.calls) return;
  const auto pass_on = [](const CallTable& seen, CallTable& ended, CallTable& next) {
    for (const CallTable::Entry& entry : seen) {
      const std::uint64_t in_flight = entry.tally.in_flight();
      if (in_flight == 0) continue;
      ended.at(entry.id).entries -= in_flight;
      next.at(entry.id).entries += in_flight;
    }
  };
  pass_on(from.table, from.table, to.table);
  for (const auto& [program, table] : from.programs) pass_on(table, from.programs.at(program), to.programs.at(program));
}

// Gives the counts of a window that has ended to its owner, and deletes it.
void WindowBook::hand_out(Window* window, detail::CostData& into) {
  into.table.merge(window->table);
  into.programs.merge(window->programs);
  if (keeper_ != nullptr) {
    detail::CostExtra& extra = into.make_extra();
    extra.unkept += window->unkept;
    extra.segments.reach = window->held.reach;
    extra.segments.lane = window->held.lane;
    extra.segments.stretches.assign(window->held.stretches.begin(), window->held.stretches.end());
  }
  Losses now = backend_.losses();
  // A thread's own window has no other threads.
  into.measured.threads = into.measured.threads && window->held.reach == Reach::process && window->tells_threads &&
                          backend_.told_threads_apart();
  into.late += now.late - window->losses_at_open.late;
  into.lost += now.lost - window->losses_at_open.lost + window->lost;
  windows_.remove_if([&](const Window& candidate) { return &candidate == window; });
}

void WindowBook::suspend(Window* window, Window* deputy) {
  std::lock_guard guard(lock_);
  if (!window->is_running()) return;
  stop(*window);
  const bool deputy_ran = deputy != nullptr && deputy->is_running();
  // Who opened the window stays who opened it.
  step_in(deputy);
  split_process(process_window_running());
  note_change(deputy, deputy_ran);
}

// ---- syscost's own calls
// ---------------------------------------------------------------------------------------------

std::optional<Lane> WindowBook::mute() {
  const std::optional<AcquiredLane> acquired = backend_.acquire_lane();
  std::lock_guard guard(lock_);
  if (!acquired.has_value()) {
    if (++mutes_without_lane_ > 1) return std::nullopt;
    for (Window& window : windows_) {
      if (window.held.reach == Reach::process && window.is_running()) ++window.lost;
    }
    if (process_window_running()) split_process(false);
    return std::nullopt;
  }
  if (acquired->was_abandoned) abandon(acquired->lane);
  ThreadLane* thread = find(acquired->lane);
  if (thread == nullptr) thread = &thread_lanes_.emplace_back(ThreadLane{acquired->lane, 0, 0});
  if (++thread->mutes == 1) continue_lane(*thread);
  return acquired->lane;
}

void WindowBook::unmute(std::optional<Lane> muted) {
  std::lock_guard guard(lock_);
  if (!muted.has_value()) {
    if (--mutes_without_lane_ == 0 && process_window_running()) split_process(true);
    return;
  }
  ThreadLane* thread = find(*muted);
  if (thread == nullptr || --thread->mutes > 0) return;
  if (thread->windows > 0) {
    continue_lane(*thread);
  } else {
    give_back(*thread);
  }
}

// The thread's calls are the process lane's again.
void WindowBook::give_back(const ThreadLane& thread) {
  backend_.boundary(thread.lane, Next::kFollowProcess);
  thread_lanes_.erase(thread_lanes_.begin() + (&thread - thread_lanes_.data()));
}

bool WindowBook::pause(CallKeeper& keeper) {
  std::lock_guard guard(lock_);
  return keeper.pause();
}

void WindowBook::resume(Window* window, Window* deputy) {
  std::lock_guard guard(lock_);
  if (window->is_running()) return;
  const bool deputy_ran = deputy != nullptr && deputy->is_running();
  if (deputy_ran) stop(*deputy);
  start(*window, latest_ + 1);
  split_process(true);
  note_change(deputy, deputy_ran);
}

}  // namespace syscost
