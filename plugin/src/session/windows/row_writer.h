// SPDX-License-Identifier: MIT
//
// RowWriter: writes waiting rows into the file: rows of windows, and rows of closed scopes.
//
// A scope closes inside a test, where its row cannot be written. The row waits in quiet memory until no window is open.
// The thread that writes rows holds a lock, and a window that is about to open waits for it.
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

  /// Waits until no other thread writes rows. `scope` is the scope that the calling thread is about to open, if any.
  Lock take_lock(const ScopeRecord* scope = nullptr);
  /// The same inside a window: waiting does not enter the kernel.
  Lock take_lock_inside_window();
  /// For the end of the process. If the lock is not free within a second, returns a lock that is not held: the holder
  /// may be an interrupted function of this thread, which never continues.
  Lock take_lock_within_a_second();

  /// The lock's holder calls it before it uses the file, which enters the kernel and may take long.
  void enter_file() { lock_.enter_file(); }
  /// Writes the rows of `window` and of closed scopes. The caller holds the lock.
  void write(std::string_view window);
  /// Writes the rows of `loop`. The rows of scopes keep waiting, because the test goes on.
  void write_loop(std::string_view loop);

  /// Writes the rows that still wait.
  void finish();
  /// The same at the end of the process: rows that cannot be written are a problem of the run.
  void conclude();

 private:
  void add_scope_row(const ScopeRow& row);

  Measurement& shared_;
  WritingLock lock_;
};

}  // namespace syscost::session
