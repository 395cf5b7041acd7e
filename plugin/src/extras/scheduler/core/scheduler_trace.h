// SPDX-License-Identifier: MIT
//
// SchedulerTrace: when each thread of the process ran, waited for a CPU or was blocked, and what woke it, where
// --syscost_sched asks for it.
//
// The first events of a window are kept, as many as there is room for, and the others are counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/syscall_id.h"

namespace syscost {

struct SchedulerEvent {
  enum class Kind {
    runs,       ///< The thread got a CPU.
    preempted,  ///< It lost the CPU, or gave it away, and can run.
    blocks,     ///< It left the CPU until something wakes it.
    ends,
    woken,  ///< From here on it can run.
    created,
  };
  /// The kind of thing that woke or created the thread.
  enum class Waker {
    unknown,
    thread,  ///< A thread of this process.
    other_process,
    kernel_thread,
    interrupt,  ///< A timer or a device. The thread that it interrupted is no waker.
  };

  Kind kind{};
  std::uint64_t at_ns = 0;             ///< CLOCK_MONOTONIC.
  std::uint32_t thread = 0;            ///< As gettid() says it; 0 = a thread that had ended when it was first seen.
  std::string_view name = {};          ///< The thread's, as prctl(PR_SET_NAME) set it. Valid during add().
  std::optional<SyscallId> call = {};  ///< In which the thread was; empty = in none: for example in a page fault.
  Waker waker = Waker::unknown;        ///< Only for kinds woken and created.
  std::uint32_t waker_thread = 0;      ///< Only for Waker::thread.
  std::optional<SyscallId> waker_call = {};  ///< The same.
};

/// Receives events; an interface, as CrossingSink.
class SchedulerEventSink {
 public:
  virtual void add(const SchedulerEvent& event) = 0;

 protected:
  ~SchedulerEventSink() = default;
};

/// In a BackendRequest: keep the events of the scheduler.
struct SchedulerWish {
  static constexpr std::string_view kWish = "scheduler";

  std::uint32_t events = 0;  ///< In a window there is room for so many.
};

class SchedulerTrace {
 public:
  static constexpr std::string_view kExtension = "scheduler";  ///< Backend::extension()

  virtual ~SchedulerTrace() = default;
  SchedulerTrace(const SchedulerTrace&) = delete;
  SchedulerTrace& operator=(const SchedulerTrace&) = delete;

  /// Delivers the events since the last call, in the order of their times, and forgets them. Returns how many more
  /// there were, and no room for them: all of these came later. Call it while nothing counts on the process's lane.
  virtual std::uint64_t take(SchedulerEventSink& sink) = 0;
  /// Forgets them.
  virtual void clear() = 0;

 protected:
  SchedulerTrace() = default;
};

}  // namespace syscost
