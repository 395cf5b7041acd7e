// SPDX-License-Identifier: MIT
//
// SchedFile: a sched.csv that --syscost_sched wrote, read back: when each thread of a test ran or waited, and what woke
// it. Any bytes may come: a line that is no event is a problem.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv/problems.h"

namespace syscost::bench::trace {

inline constexpr const char* kSchedName = "sched.csv";

/// What woke or created a thread.
enum class Waker {
  unknown,
  thread,  ///< Of the process.
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
  Waker waker = Waker::unknown;    ///< Of kinds woken and created.
  std::uint32_t waker_thread = 0;  ///< Of Waker::thread; 0 = unknown.
  std::string waker_call = {};     ///< The same.
};

struct SchedFile {
  std::string path;
  std::uint64_t wall_ns = 0;
  std::uint32_t thread = 0;                    ///< That closed the window.
  std::vector<SchedEvent> events;              ///< By time.
  std::uint64_t lost = 0;                      ///< Events that found no room.
  std::uint64_t lost_after_ns = 0;             ///< All of them came later than this; only if `lost`.
  std::map<std::uint32_t, std::string> names;  ///< Of threads, as they were last.
};

/// Empty, with a problem, if the file cannot be read or is none.
std::optional<SchedFile> read_sched_file(const std::string& path, csv::Problems& problems);
/// The same of a file's content.
std::optional<SchedFile> parse_sched_file(const std::string& path, std::string_view content, csv::Problems& problems);

}  // namespace syscost::bench::trace
