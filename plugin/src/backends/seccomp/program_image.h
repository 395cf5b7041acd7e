// SPDX-License-Identifier: MIT
//
// ProgramImage: tells if a process still runs the program that mapped a stretch of shared memory, or has replaced it
// by execve(2), which keeps the process id and drops all memory. It neither locks nor allocates, for the supervisor.
#pragma once

#include <sys/types.h>

#include <array>

namespace syscost::seccomp {

class ProgramImage {
 public:
  /// `memory`: the start of a shared mapping that the calling process inherited from the program; null = none.
  explicit ProgramImage(const void* memory);

  /// True if the process has the mapping. False also where the kernel hides its mappings. Makes system calls.
  bool is_of(pid_t process) const;

 private:
  std::array<char, 128> line_{};  // of the mapping, in /proc/PID/maps: its addresses, and the number of its memory
};

}  // namespace syscost::seccomp
