// SPDX-License-Identifier: MIT
//
// The critical path of a window: where its wall time went, through all threads; and the sched.csv that it is made of.
//
// A walk backwards in time finds the path. It begins at the window's end, on the thread that closed the window. While
// that thread ran, or waited for a CPU, the time belongs to it. At the time when another thread of the process woke it,
// the walk continues on the other thread, because the first one could not run before. If no thread of the process woke
// it, the path has the time for which it was blocked, and the walk continues on the same thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv/problems.h"

namespace syscost::bench::trace {

inline constexpr const char* kSchedName = "sched.csv";

/// The cause that woke or created a thread.
enum class Waker {
  unknown,
  thread,  ///< One of the process.
  other_process,
  kernel_thread,
  interrupt,  ///< A timer or a device.
};

struct SchedEvent {
  enum class Kind {
    runs,       ///< The thread got a CPU.
    preempted,  ///< It lost the CPU, and can run.
    blocks,     ///< It left the CPU until something wakes it.
    ends,
    woken,  ///< From here on it can run.
    created,
  };
  Kind kind{};
  std::uint64_t at_ns = 0;  ///< From the window's begin.
  std::uint32_t thread = 0;
  std::string call = {};           ///< The syscall that the thread was in; empty = none: for example a page fault.
  Waker waker = Waker::unknown;    ///< For kinds woken and created.
  std::uint32_t waker_thread = 0;  ///< For Waker::thread; 0 = unknown.
  std::string waker_call = {};     ///< The same.
};

/// A sched.csv that --syscost_sched wrote, read back: when each thread of a test ran or waited, and what woke it. Any
/// bytes may come: a line that is no event is a problem.
struct SchedFile {
  std::string path;
  std::uint64_t wall_ns = 0;
  std::uint32_t thread = 0;                    ///< That closed the window.
  std::vector<SchedEvent> events;              ///< By time.
  std::uint64_t lost = 0;                      ///< Events that found no room.
  std::uint64_t lost_after_ns = 0;             ///< All of them came later than this; only if `lost`.
  std::map<std::uint32_t, std::string> names;  ///< The threads' names, as they were last.
};

/// Empty, with a problem, if the file cannot be read or is none.
std::optional<SchedFile> read_sched_file(const std::string& path, csv::Problems& problems);
/// The same of a file's content.
std::optional<SchedFile> parse_sched_file(const std::string& path, std::string_view content, csv::Problems& problems);

struct PathStep {
  enum class Kind {
    runs,
    preempted,  ///< Could run, and another thread had its CPU.
    waits,      ///< Was woken or created, and waits for a CPU.
    blocked,    ///< Until `ended_by`, which is not a thread of the process.
    unknown,    ///< Events are missing.
  };
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  std::uint32_t thread = 0;
  Kind kind{};
  std::string call = {};            ///< For kind blocked: in which; empty = in none, for example a page fault.
  Waker ended_by = Waker::unknown;  ///< For kind blocked.
  // If the step begins because a thread of the process woke or created this one, and is the step before:
  std::uint32_t woken_by = 0;  ///< 0 = it does not.
  bool is_created = false;
  std::string woken_from = {};  ///< The call that this thread was blocked in.
  std::string waker_call = {};  ///< The call that the waker was in.

  std::uint64_t took_ns() const { return to_ns - from_ns; }
};

/// At each time one thread is on the path, so the steps add up to the wall time exactly. Where events are missing or
/// contradict each other, the time is `unknown` or blocked and ended by Waker::unknown; nothing is guessed. A kernel
/// may lose events without a count; the events around them then contradict each other.
struct CriticalPath {
  std::vector<PathStep> steps;     ///< By time, without gaps, from 0 to the wall time. No step is empty.
  std::size_t contradictions = 0;  ///< Places, of all threads, where an event must be missing.
};

CriticalPath critical_path(const SchedFile& file);

/// The steps of each thread, on the path or not, by thread and time. Times before a thread was created and after its
/// end are left out.
std::vector<PathStep> all_threads(const SchedFile& file);

}  // namespace syscost::bench::trace
