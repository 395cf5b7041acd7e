// SPDX-License-Identifier: MIT
//
// Patches of call sites in libc, by which calls reach the stub with a jump instead of a signal. They are made and
// undone while other threads may be running the very bytes. Nothing is patched while a tracer is attached, so this also
// finds the process that traces us.
#pragma once

#include <string>
#include <vector>

#include "backends/dispatch/patch_plan.h"

namespace syscost::dispatch {

/// Returns the process that traces this one; 0 = none. A debugger stops at every SIGSYS; strace only gets slower.
int tracer_pid();

/// True in a program with the runtime of a sanitizer that gives each thread a signal stack, and unmaps at the thread's
/// end what the kernel names as such.
bool has_signal_stack_sanitizer();

/// All sites of libc that are proven (sites.h) are patched when the backend opens. Pages are replaced (replace_code()),
/// all in one step where they are libc's file's; where the kernel refuses that, calls are still trapped. Nothing is
/// mapped at address 0. undo() takes everything away except bridges that a thread may be in.
class Patches {
 public:
  /// Returns why nothing can be patched here, for example because of a sanitizer or a tracer; empty = it can. It tries
  /// nothing.
  static std::string obstacle();

  Patches() = default;
  ~Patches() { undo(); }
  Patches(const Patches&) = delete;
  Patches& operator=(const Patches&) = delete;

  /// Patches every proven site unless there is an obstacle. Makes syscalls. Returns the reason if nothing can be
  /// patched, else an empty text.
  std::string apply();
  /// Puts libc's code back. A jump that the kernel does not let us take away stays, and so do those that another thread
  /// may be about to execute; the stub goes on serving them.
  void undo();

  /// "506 of 526 call sites of libc patched, the rest trapped: 18 ..."
  static std::string describe_coverage();

 private:
  /// Pages that were replaced together.
  struct Part {
    Pages pages;
    CopyOf source = CopyOf::file;
  };

  std::vector<Part> parts_;
};

}  // namespace syscost::dispatch
