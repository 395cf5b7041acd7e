// SPDX-License-Identifier: MIT
//
// Processes as /proc shows them: their numbers and their threads.
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

/// `-4026532281`, the inode of this process's PID namespace; "" in the first one of the machine, or if it is not known.
/// Processes of two namespaces can have one number, one host name, and one start.
std::string namespace_mark();

/// By which number this process knows /proc/SHOWN, which must be a process of its namespace or of one below it, for
/// example a child; 0 if that cannot be told.
pid_t own_number_of(pid_t shown);

/// The number in the line `NAME:` of the text of a `status` file, for example TracerPid; empty if it has no such line.
std::optional<std::uint64_t> number_in_status(std::string_view status, std::string_view name);

/// The entries of a folder of /proc that are numbers, ascending. A descriptor of its own, with which it reads the
/// folder, is not among them.
Result<std::vector<int>> numbers_in(const char* folder);

// Flags of a task, field 9 of /proc/PID/task/TID/stat (include/linux/sched.h).

/// False for a task in the list of a process's threads that runs no code of the program any more, or never did: one
/// that ends (PF_EXITING is set before a thread that joins it goes on), and a worker of the kernel for io_uring
/// (PF_IO_WORKER: iou-wrk, iou-sqp), which stays for seconds after its ring has been closed.
constexpr bool is_thread_of_program(unsigned long flags) {
  constexpr unsigned long kExiting = 0x4;
  constexpr unsigned long kIoWorker = 0x10;
  return (flags & (kExiting | kIoWorker)) == 0;
}

/// True for a thread of this process that runs the program's code: not for one that is ending, which join() may leave
/// behind for a moment. Reads /proc.
bool is_own_thread(int thread);

/// Those of this process, ascending. Fails if /proc cannot be read.
Result<std::vector<int>> own_threads();

}  // namespace syscost
