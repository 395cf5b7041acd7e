// SPDX-License-Identifier: MIT
//
// ProgramNames: which program a thread's process runs, for the supervisor, which neither locks nor allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace syscost::seccomp {

/// Names' length, with the zero at the end; longer ones are cut.
inline constexpr std::size_t kProgramName = 64;
using ProgramName = std::array<char, kProgramName>;

class ProgramNames {
 public:
  ProgramNames();

  /// The last part of the path of the program that `thread` runs; "unknown" where the kernel does not tell us, as of a
  /// process that gained privileges, or where /proc is another PID namespace's. Without control characters.
  ProgramName of(std::int32_t thread) const;

 private:
  bool is_proc_ours_;
};

}  // namespace syscost::seccomp
