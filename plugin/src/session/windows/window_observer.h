// SPDX-License-Identifier: MIT
//
// WindowObserver: a part of syscost that follows each window, and may add to its row.
//
// Extras are observers: they write files about a window, or add columns to its row.
// Windows calls each of them at the same points of a window, in the order in which the session gave them. So Windows
// knows none of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost_data.h"
#include "csv/window_rows.h"
#include "session/windows/open_window.h"

namespace syscost::session {

/// A window that was closed, before its row is written.
struct ClosedWindow {
  OpenWindow& window;
  csv::WindowColumns& columns;
  const std::shared_ptr<detail::CostData>& cost;  ///< Null if the counts are void.
  Capabilities& can;                              ///< A column that is false here is empty in the row.
  std::string_view spoken;                        ///< For messages: `test Suite.Test`.
  std::uint64_t end_ns = 0;                       ///< On the monotonic clock.
  int framework_writes = 0;                       ///< Calls of the framework, which are in `cost` until add_columns().
  bool has_row = false;                           ///< True: it gets a row even if it counted nothing.
  std::string remark;                             ///< Is added to the line for people.
  std::vector<std::string> lines;                 ///< More lines for people.
};

/// Called on the window's thread; when the process ends, on the thread that ends it. In prepare(), begin(), end(),
/// conclude() and add_columns() the caller holds Recorder's lock; elsewhere it need not.
class WindowObserver {
 public:
  virtual ~WindowObserver() = default;

  /// False: the options do not ask for it, so that no other function is called.
  virtual bool takes_windows() const = 0;
  /// True if the end of this window may take long, so that a test's alarm must wait.
  virtual bool takes_long(const OpenWindow& window) const {
    static_cast<void>(window);
    return takes_windows();
  }

  /// Before the window is armed. May make syscalls.
  virtual void prepare(OpenWindow& window) { static_cast<void>(window); }
  /// The last step before the window is armed. No syscall.
  virtual void begin(OpenWindow& window) noexcept { static_cast<void>(window); }
  /// Directly after the window was armed, and directly before it is disarmed; also around a pause. No syscall.
  virtual void arm(OpenWindow& window) noexcept { static_cast<void>(window); }
  virtual void disarm(OpenWindow& window) noexcept { static_cast<void>(window); }
  /// Directly after the window's counts were read, if it has any. No syscall.
  virtual void read(OpenWindow& window) noexcept { static_cast<void>(window); }
  /// After its times were taken. May make syscalls. `cost` is null if the counts are void.
  virtual void end(OpenWindow& window, const detail::CostData* cost) {
    static_cast<void>(window);
    static_cast<void>(cost);
  }
  /// Writes its files. `cost` still has all calls.
  virtual void conclude(ClosedWindow& closed) { static_cast<void>(closed); }
  /// The same where `cost` has the calls of the row.
  virtual void add_columns(ClosedWindow& closed) { static_cast<void>(closed); }

  /// Around a pause of a test for a loop.
  virtual void suspend(OpenWindow& window) { static_cast<void>(window); }
  virtual void resume(OpenWindow& window) { static_cast<void>(window); }
};

}  // namespace syscost::session
