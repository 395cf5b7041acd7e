// SPDX-License-Identifier: MIT
//
// Processes as /proc shows them: their numbers, their threads, and all that this process has open.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"

namespace syscost {

// Whether the numbers in /proc are those that this process knows processes by.
//
// In a PID namespace with the /proc of an outer one (`unshare --pid` without `--mount-proc`) getpid() is a number of
// the namespace, and /proc/NUMBER is another process. Only /proc/self is right there. So a path of another process is
// made by proc_of(), which has none then, and a number that was read in /proc goes through own_number_of() before
// anything is done to that process.

/// The number of this process in /proc; 0 without /proc, or if it does not show this process.
pid_t shown_number();

/// True if /proc shows this process under its own id. False also without /proc.
bool is_proc_ours();

/// "/proc/self" for this process, else "/proc/NUMBER"; empty if that would be another process.
std::string proc_of(pid_t process);

/// When a process started, in clock ticks since boot. Together with its number it identifies a process. Empty if
/// unknown.
std::string start_time(pid_t process);

/// By which number this process knows /proc/SHOWN, which must be a process of its namespace or of one below it, for
/// example a child; 0 if that cannot be told.
pid_t own_number_of(pid_t shown);

/// The number in the line `NAME:` of PROC/status, for example TracerPid; empty if it cannot be read or has no such line.
std::optional<std::uint64_t> number_in_status(const std::string& proc, std::string_view name);

// Flags of a task, field 9 of /proc/PID/task/TID/stat (include/linux/sched.h).

/// False for a task in the list of a process's threads that runs no code of the program any more, or never did: one
/// that ends (PF_EXITING is set before a thread that joins it goes on), and a worker of the kernel for io_uring
/// (PF_IO_WORKER: iou-wrk, iou-sqp), which stays for seconds after its ring has been closed.
constexpr bool is_thread_of_program(unsigned long flags) {
  constexpr unsigned long kExiting = 0x4;
  constexpr unsigned long kIoWorker = 0x10;
  return (flags & (kExiting | kIoWorker)) == 0;
}

// OpenThings: the descriptors, threads, children and mappings that this process has at one moment. LeftOpen: what it
// has at a later one and did not have then.
//
// All is read from /proc. That is some dozens of syscalls, so call it outside windows. Descriptors of syscost itself
// are left out. Allocates.

struct OpenThings {
  std::vector<int> descriptors;  ///< Ascending, as all lists here.
  std::vector<int> threads;  ///< Without those that are ending: join() may return before the kernel has removed one.
  std::optional<std::vector<int>> children;  ///< Zombies included. Empty if the kernel does not list them.
  struct Mapped {
    std::uint64_t bytes = 0;       ///< VmSize
    std::uint64_t most_bytes = 0;  ///< VmPeak: the most so far
  };
  // Before and after the lists were made: their own memory lies between.
  std::optional<Mapped> mapped_at_begin;
  std::optional<Mapped> mapped_at_end;

  /// Fails if /proc cannot be read.
  static Result<OpenThings> now();

  /// Takes out what is in `others`: descriptors by their numbers. Mappings become unknown.
  void take_out(const OpenThings& others);
  /// Keeps what is in `others`, too.
  void keep_common(const OpenThings& others);
};

struct LeftOpen {
  struct Descriptor {
    int number = 0;
    std::string what;  ///< `file /tmp/x`, `socket`, `pipe`, `eventfd`
    std::string site;  ///< `at src/log.cc:17 Log::open`, the line that opened it; empty = unknown
  };
  /// A thread, or a child process.
  struct Started {
    int id = 0;
    std::string site;  ///< `at src/pool.cc:8 Pool::grow`, the line that started it; empty = unknown
  };
  std::vector<Descriptor> descriptors;
  std::vector<Started> threads;
  std::optional<std::vector<Started>> children;
  std::optional<std::uint64_t> mapped_bytes;  ///< By how much they grew; 0 if they shrank.
  /// The most by which they had grown at one time, by VmPeak. Empty unless VmPeak has risen: then it was higher before.
  std::optional<std::uint64_t> peak_mapped_bytes;

  /// From `before` to `after`, which was read last: descriptors are described as they are now.
  LeftOpen(const OpenThings& before, const OpenThings& after);

  /// Mappings do not count: allocators keep memory for later.
  bool is_nothing() const { return descriptors.empty() && threads.empty() && (!children || children->empty()); }
  /// `5 file /tmp/x;6 socket at src/log.cc:17 Log::open;thread at src/pool.cc:8 Pool::grow`: at most 32 descriptors,
  /// then how many more; and the threads and children of which the line is known, at most 32 of each.
  std::string list_text() const;
  /// `descriptor 5 (file /tmp/x, opened at src/log.cc:17 Log::open), 2 threads (started at src/pool.cc:8 Pool::grow)`;
  /// empty for nothing.
  std::string text() const;
};

}  // namespace syscost
