// SPDX-License-Identifier: MIT
//
// RowWriter: brings the rows that wait into the file, those of windows and those of closed scopes.
//
// A scope's row cannot be written where the scope closes, inside a test: it waits in quiet memory until no window is
// open. The thread that writes holds the lock, and a window that is about to open waits for it.
#pragma once

#include <mutex>
#include <string_view>

#include "session/windows/measurement.h"
#include "session/windows/writing_lock.h"

namespace syscost::session {

class RowWriter {
 public:
  using Lock = std::unique_lock<WritingLock>;

  explicit RowWriter(Measurement& shared) : shared_(shared) {}

  /// Waits for another thread that writes rows. `scope` is the calling thread's own that is about to open, if any.
  Lock wait(const ScopeRecord* scope = nullptr);
  /// The same inside a window, where waiting must not enter the kernel.
  Lock wait_inside_window();
  /// For the end of the process: not held when the lock's holder may be a frame of this thread that never goes on.
  Lock wait_within_patience();

  /// Called by the lock's holder: from now on it enters the kernel and may be long.
  void enter_file() { lock_.enter_file(); }
  /// Writes the rows of `window` and of closed scopes. The caller holds the lock.
  void write(std::string_view window);
  /// Writes the rows of `loop`, and leaves those of scopes: the test goes on.
  void write_loop(std::string_view loop);

  /// Writes what still waits.
  void finish();
  /// The same at the end of the process: what cannot be written is a problem of the run.
  void conclude();

 private:
  void add_scope_row(const ScopeRow& row);

  Measurement& shared_;
  WritingLock lock_;
};

}  // namespace syscost::session
