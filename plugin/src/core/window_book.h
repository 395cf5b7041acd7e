// SPDX-License-Identifier: MIT
//
// WindowBook: which calls belong to which window.
//
// A backend counts by segment, the stretch between two boundaries of a lane. A window is a set of segments: windows
// nest (a scope inside a test), overlap (scopes of two threads) and can be suspended (a loop inside a test has its own
// windows). So at every boundary the segment that just ended is read once and added to each window that holds it.
//
// A call belongs to the window it entered. One that enters in one segment and ends in another is known by both
// (Crossing); for each window it is then a finished call, in flight, carried in, or nothing at all:
//
//                       ends inside     ends outside
//     enters inside     call            in flight (an entry without an end)
//     enters outside    carried in      -
//
// Of windows that replace each other, a call belongs to the one in which it ends, and the newest has those in flight:
// their numbers add up, and no call lacks its time because it crossed an end.
//
// Everything here happens inside an open window: no syscall, memory only from the given resource.
#pragma once

#include <cstdint>
#include <list>
#include <memory_resource>
#include <optional>
#include <vector>

#include "core/backend.h"
#include "core/cost_data.h"
#include "os/spin_lock.h"
#include "syscost/syscost.h"

namespace syscost {

class CallKeeper;
class ProgramReader;

class WindowBook final : private CrossingSink {
 public:
  class Window;

  /// Both must outlive the book. `memory` must be usable by any thread without a syscall (quiet_memory()).
  WindowBook(Backend& backend, std::pmr::memory_resource& memory);

  /// Opens a window; the last thing it does is to arm. A thread window must be closed by the thread that opened it.
  /// Null when no lane is left for a thread window. Any thread. `deputy`: as in close().
  Window* open(Reach reach, Window* deputy = nullptr);

  /// Ends the window (first thing), adds its counts to `into`, and deletes it. Any thread may close a process window,
  /// and the window of a thread that has ended. `deputy`: a process window that runs where the other one does not, and
  /// rests otherwise. The two change places at one boundary, so each call is in one of them, and in one only.
  void close(Window* window, detail::CostData& into, Window* deputy = nullptr);

  /// Ends the process window `ended` as close() does, and opens the next one at the same boundary: each call of the two
  /// is in one of them, and in one only. One that has not ended is in the next one, where entries and ends are seen.
  Window* replace(Window* ended, detail::CostData& into);

  /// Stop and resume charging calls to the process window `window`, which stays open: for a loop inside a test, which
  /// has its own window. `deputy`: as in close().
  void suspend(Window* window, Window* deputy = nullptr);
  void resume(Window* window, Window* deputy = nullptr);

  /// The calling thread's calls belong to no window until unmute(): they are syscost's own. Calls of other threads
  /// count as before. The first time on a thread it may make one syscall, which counts nowhere. Returns the thread's
  /// lane. Empty if it cannot get one: then the process windows count nothing for this time, and each has lost an
  /// event.
  std::optional<Lane> mute();
  /// Ends mute(), which returned `muted`, on the same thread.
  void unmute(std::optional<Lane> muted);

  /// As CallKeeper::pause(), beside other threads that open and close windows.
  bool pause(CallKeeper& keeper);

  /// Opaque to callers.
  class Window {
   public:
    Window(Reach its_reach, Lane its_lane, std::pmr::memory_resource& memory)
        : held(&memory), table(&memory), programs(&memory) {
      held.reach = its_reach;
      held.lane = its_lane;
    }

    bool is_running() const { return !held.stretches.empty() && held.stretches.back().end == SegmentsHeld::kOpen; }

    SegmentsHeld held;
    /// The first generation of the windows that this one replaced; calls that entered since then are its own.
    Generation first_of_chain = SegmentsHeld::kOpen;
    CallTable table;
    ProgramTables programs;
    Losses losses_at_open;  ///< And those while it rested as a deputy.
    Losses losses_at_rest;
    std::uint64_t unkept = 0;
    bool tells_threads = true;
    std::uint64_t lost = 0;  ///< While calls could not be told from syscost's own.
  };

 private:
  /// A thread lane on which at least one window is open, or which is muted.
  struct ThreadLane {
    Lane lane;
    int windows;
    Generation generation;
    int mutes = 0;
    bool is_muted() const { return mutes > 0; }
  };

  // All under lock_.
  void start(Window& window, Generation first) { window.held.stretches.push_back({first, SegmentsHeld::kOpen}); }
  void stop(Window& window) const;
  void step_in(Window* deputy);
  void note_change(Window* deputy, bool ran);
  void hand_out(Window* window, detail::CostData& into);
  void pass_on_calls_in_flight(Window& from, Window& to) const;
  void split_process(bool arm);
  void read_segment(Lane lane, Generation ended);
  void read_programs(Generation ended);
  void add(const Crossing& crossing) override;
  bool process_window_running() const;
  ThreadLane* find(Lane lane);
  void continue_lane(ThreadLane& thread);
  void give_back(const ThreadLane& thread);
  void abandon(Lane lane);

  Backend& backend_;
  CallKeeper* const keeper_;       // null = none
  ProgramReader* const programs_;  // null = they are not counted
  std::pmr::memory_resource& memory_;
  SpinLock lock_;
  std::pmr::list<Window> windows_;
  std::pmr::vector<ThreadLane> thread_lanes_;
  CallTable segment_;  // the segment being read; kept for its memory
  ProgramTables segment_programs_;
  Generation process_generation_ = 0;  // of lane 0; 0 = disarmed
  Generation latest_ = 0;              // the newest generation of all
  int mutes_without_lane_ = 0;
  bool tells_threads_ = false;  // in the segments of lane 0, since a window of the process was opened beside none
};

}  // namespace syscost
