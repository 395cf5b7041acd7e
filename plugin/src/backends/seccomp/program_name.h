// SPDX-License-Identifier: MIT
//
// ProgramNames: finds the program that a thread's process runs. It neither locks nor allocates, for the supervisor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace syscost::seccomp {

/// The room for a name, with the zero at the end; longer names are cut.
inline constexpr std::size_t kProgramName = 64;
using ProgramName = std::array<char, kProgramName>;

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

}  // namespace syscost::seccomp
