// SPDX-License-Identifier: MIT
//
// WindowTools: what a window asks of the tools beside us. session/tools has them; a window knows only this.
#pragma once

#include <string>
#include <vector>

#include "core/cost_data.h"
#include "csv/window_rows.h"
#include "session/windows/open_window.h"

namespace syscost::session {

class WindowTools {
 public:
  virtual ~WindowTools() = default;

  /// True when the run has tools.
  virtual bool is_on() const = 0;
  /// `bpftrace`, `bpftrace and perf`.
  virtual std::string names() const = 0;

  /// Attaches them, before a test's window opens. False, with a message, when that fails. The caller holds the row lock
  /// and is at the file.
  virtual bool begin_test() = 0;
  /// No syscall.
  virtual void arm() noexcept = 0;
  virtual void disarm() noexcept = 0;
  /// For a loop inside the test: takes them off, and attaches them again.
  virtual void suspend(OpenWindow& window) = 0;
  virtual void resume(OpenWindow& window) = 0;
  /// For a test right after its window was closed: files and rows; returns the lines for people. `counted` still holds
  /// the framework's own writes, as the tools' count does. The caller holds the row lock.
  virtual std::vector<std::string> conclude(OpenWindow& window, const csv::WindowColumns& columns,
                                            const detail::CostData* counted, int framework_writes) = 0;
};

}  // namespace syscost::session
