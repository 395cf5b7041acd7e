// SPDX-License-Identifier: MIT
//
// Which program a process runs: its name, and whether it is still the program that mapped the shared memory. For the
// supervisor, so it neither locks nor allocates.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace syscost::seccomp {

/// The room for a name, with the zero at the end; longer names are cut.
inline constexpr std::size_t kProgramName = 64;
using ProgramName = std::array<char, kProgramName>;

/// Finds the program that a thread's process runs.
class ProgramNames {
 public:
  ProgramNames();

  /// The last part of the path of the program that `thread` runs; "unknown" if the kernel hides it, as for a
  /// process that gained privileges, or if /proc belongs to another PID namespace. Without control characters.
  ProgramName of(std::int32_t thread) const;
  bool is_proc_ours() const { return is_proc_ours_; }

 private:
  bool is_proc_ours_;
};

/// Tells if a process still runs the program that mapped shared memory, or has replaced it by execve(2), which keeps
/// the process id and drops all memory.
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
