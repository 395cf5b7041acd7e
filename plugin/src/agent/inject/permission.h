// SPDX-License-Identifier: MIT
//
// Whether a process here may trace another one of the same user until its first instruction.
#pragma once

#include <string>

namespace syscost::inject {

struct Obstacle {
  std::string why;     ///< Empty where there is none; else part of a sentence: "the kernel denies ptrace".
  std::string remedy;  ///< Says what to do.
};

/// False on a processor without the FSGSBASE instructions, or where the kernel or a virtual machine hides them.
bool may_set_fs_register();
/// False where no written memory may become code, as under systemd's MemoryDenyWriteExecute. Programs that are executed
/// inherit that.
bool may_make_code();
/// True where another process traces this one.
bool has_tracer();
/// The obstacle where may_make_code() is false.
Obstacle no_code();
/// The obstacle to tracing, by what the system says of itself. `is_traced`: the process has a tracer.
Obstacle why_denied(bool is_traced);
/// Tries it with a child process that does nothing.
Obstacle try_tracing();

}  // namespace syscost::inject
