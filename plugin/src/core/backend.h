// SPDX-License-Identifier: MIT
//
// Backend: one way of seeing this process's syscalls. The rest of syscost uses only this interface.
//
// The words. Every boundary starts a new *generation* on a *lane*; the calls entered between two boundaries are a
// *segment*, named by its generation. Lane 0 is the process: every thread that has no lane of its own. A thread that
// opens a thread scope gets a lane, so that its calls can be told from the others'. A backend does not know which
// segments belong to which window: WindowBook (window_book.h) does.
//
// boundary(), read() and read_crossings() run between two instructions of the user's code, inside an open window:
// they must make no syscall and allocate nothing but from the memory they were given. open(), attach(), detach(),
// acquire_lane(), hidden_losses() and close() may make syscalls.
//
// Nothing here is thread-safe: WindowBook calls it under its lock. Exceptions: any thread may call acquire_lane() at
// any time, and one thread at a time hidden_losses().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.h"
#include "core/segments_held.h"
#include "core/selector.h"
#include "core/syscall_id.h"
#include "core/tally.h"
#include "os/errors.h"

namespace syscost {

/// The things that a backend can measure. If a flag is false, its column is empty in every row, by construction.
struct Capabilities {
  bool entries = false;     ///< Trips into the kernel; with `calls` also restarts, in_flight and no_return.
  bool calls = false;       ///< Logical calls with their result.
  bool errors = false;      ///< errno by (syscall, errno).
  bool latency = false;     ///< Histogram and sums.
  bool carried_in = false;  ///< Calls that entered before the window.
  bool denied = false;      ///< Calls stopped by a seccomp filter.
  BytesKnown bytes = BytesKnown::none;
  bool altered = false;     ///< Calls that a fault answered or changed.
  bool threads = false;     ///< Which threads made the calls of a process window.
  bool programs = false;    ///< Counts other programs too: child processes. True only if that was requested.
  std::uint32_t lanes = 0;  ///< How many threads can be inside thread scopes at once.
  std::span<const SyscallId> uncountable = {};  ///< Syscalls that it never sees: their counts are empty, not 0.
};

/// A lane that the calling thread got.
struct AcquiredLane {
  Lane lane{};
  /// The thread that had this lane before ended without closing its windows. They count nothing any more.
  bool was_abandoned = false;
};

/// How a lane continues after a boundary.
enum class Next {
  kDisarm,         ///< Count nothing on this lane.
  kArm,            ///< Count into a new segment.
  kFollowProcess,  ///< (Thread lanes) the thread's calls are the process lane's again.
};

/// A call that entered in one segment and ended after that segment's end.
struct Crossing {
  Generation entered_in = 0;
  Lane lane = Lane::kProcess;  ///< On which it entered.
  Generation returned_in = 0;
  Lane returned_lane = Lane::kProcess;  ///< On which it ended.
  SyscallId id;
  std::string_view program = {};  ///< That of the child that made it; empty = the process itself. Valid during add().
  enum class Outcome { kCall, kRestart, kNoReturn } outcome = Outcome::kCall;
  int error = 0;  ///< errno, 0 = success.
  bool has_latency = false;
  std::uint64_t latency_ns = 0;
  std::uint64_t bytes = 0;           ///< As in Tally.
  std::uint64_t bytes_released = 0;  ///< As in Tally.
  bool is_short = false;             ///< It moved less than asked.
  bool is_sync_open = false;         ///< It opened with O_SYNC or O_DSYNC.
  bool is_kernel_file = false;       ///< It opened a path below /proc or /sys.
  bool is_altered = false;           ///< A fault answered or changed it.
  bool is_kept = false;              ///< CallKeeper has a record of it.
  Maker maker = Maker::opener;       ///< Only from a backend that counts no entries.
};

/// Receives crossings; a plain interface because std::function may allocate.
class CrossingSink {
 public:
  virtual void add(const Crossing& crossing) = 0;

 protected:
  ~CrossingSink() = default;
};

/// Events since open() that the backend could not attribute, as far as reading memory shows them.
struct Losses {
  std::uint64_t late = 0;  ///< May have been counted into a segment that had been read already.
  std::uint64_t lost = 0;  ///< Not recorded at all.
};

/// The cost of measuring here, measured at open(); empty = not measured.
struct Calibration {
  double armed_ns_per_call = 0;  ///< Added to one syscall while armed.
  bool measured = false;
  bool is_lost_in_noise = false;  ///< The measurement failed: other work on the machine took more than counting adds.
};

/// From the times of a call while armed and while nothing is attached. Counting is never free: if the difference rounds
/// to 0 or is negative, nothing was measured.
inline Calibration added_by_counting(double armed_ns, double unobserved_ns) {
  constexpr double kLeast = 0.5;
  if (armed_ns - unobserved_ns < kLeast) return {.is_lost_in_noise = true};
  return {.armed_ns_per_call = armed_ns - unobserved_ns, .measured = true};
}

class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// Column `backend`: "ebpf".
  virtual std::string_view name() const = 0;
  virtual Capabilities capabilities() const = 0;
  virtual Calibration calibration() const = 0;

  /// One sentence for the user about this run that no number shows; empty = none.
  virtual std::string remark() const { return {}; }

  /// How this process set it up, for --syscost_doctor; empty = the usual way.
  virtual std::string arrangement() const { return {}; }

  /// A lane for the calling thread, until boundary(lane, kFollowProcess). A thread that has a lane gets the same one.
  /// Empty if too many threads are inside scopes at once (capabilities().lanes), or if a seccomp filter denies the
  /// syscall that registers the thread. Called inside windows: allocates nothing; makes one syscall the first time,
  /// which is never counted.
  virtual std::optional<AcquiredLane> acquire_lane() = 0;

  /// Ends `lane`'s segment and starts the next; returns its generation (0 unless Next::kArm). One store.
  virtual Generation boundary(Lane lane, Next next) = 0;

  /// From the next boundary of each lane on, its calls are told apart: by the calling thread, by threads that
  /// begin after this call, by older ones. False if the calling thread cannot be known: then the backend tells nothing.
  /// Makes one syscall the first time on a thread, which is never counted. Not in a window of the process.
  virtual bool tell_threads_apart() { return false; }
  /// False if some calls counted by now could not be told apart.
  virtual bool told_threads_apart() const { return true; }

  /// The word that boundary() stores for the process's lane: while it is 0, nothing is counted there. Null if there is
  /// no such word. For code that has to make a call of its own between the program and a boundary: it stores 0, makes
  /// the call, and puts the value back.
  virtual std::uint64_t* process_control() { return nullptr; }

  /// Adds the counts of `lane`'s previous segment to `into`, and clears them. Call it after each boundary that ended an
  /// armed segment. Waits, for a bounded time, for calls that are being counted at this instant.
  virtual void read(Lane lane, CallTable& into) = 0;

  /// Delivers the crossings recorded since the last time.
  virtual void read_crossings(CrossingSink& sink) = 0;

  /// Losses that reading memory shows. Cumulative.
  virtual Losses losses() const = 0;
  /// Lost events that only a syscall shows; not part of losses(). Cumulative. Fails if the backend was disabled: a test
  /// may have closed every file descriptor. Counts since the last call of this function are then too low.
  virtual Result<std::uint64_t> hidden_losses() = 0;
  /// The part of the last hidden_losses() that threads lost which cannot be inside a thread scope. It leaves the counts
  /// of thread scopes exact.
  virtual std::uint64_t hidden_losses_beside_scopes() const { return 0; }

  /// Stop and resume observing the process, for timed passes. An opened backend is attached.
  virtual Result<void> detach() = 0;
  virtual Result<void> attach() = 0;
  /// False when only the thread that called detach() can call attach().
  virtual bool attaches_on_any_thread() const { return true; }

  /// Stops counting for good, and releases the resources that another backend of this process needs. Scopes that are
  /// open on it may still be closed. Call it between windows.
  virtual void retire() {}

  /// An ability of this backend beside counting, by the interface that stands for it: null if the backend does not have
  /// it, or was opened without it. It lives as long as the backend. The core names no such interface.
  template <class Interface>
  Interface* extension() {
    return static_cast<Interface*>(find_extension(Interface::kExtension));
  }

 protected:
  Backend() = default;

  /// Returns the `Interface*` of which this is the kExtension, or null: `return pick<ProgramReader>(name, this);`
  virtual void* find_extension(std::string_view name) {
    static_cast<void>(name);
    return nullptr;
  }
  /// Returns the extension with this name; null if none of them has it.
  template <class... Interfaces>
  static void* pick(std::string_view name, Interfaces*... extensions) {
    void* found = nullptr;
    static_cast<void>(((name == Interfaces::kExtension && (found = extensions, true)) || ...));
    return found;
  }
};

/// The extension of the first of `abilities`, a list of pointers, that has it, as its find() gives it; null = none.
template <class Abilities>
void* find_among(const Abilities& abilities, std::string_view name) {
  for (const auto& ability : abilities) {
    if (void* const found = ability->find(name)) return found;
  }
  return nullptr;
}

}  // namespace syscost
