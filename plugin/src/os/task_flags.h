// SPDX-License-Identifier: MIT
//
// Flags of a task, field 9 of /proc/PID/task/TID/stat (include/linux/sched.h).
#pragma once

namespace syscost {

/// False for a task in the list of a process's threads that runs no code of the program any more, or never did: one
/// that ends (PF_EXITING is set before a thread that joins it goes on), and a worker of the kernel for io_uring
/// (PF_IO_WORKER: iou-wrk, iou-sqp), which stays for seconds after its ring has been closed.
constexpr bool is_thread_of_program(unsigned long flags) {
  constexpr unsigned long kExiting = 0x4;
  constexpr unsigned long kIoWorker = 0x10;
  return (flags & (kExiting | kIoWorker)) == 0;
}

}  // namespace syscost
