// SPDX-License-Identifier: MIT
//
// WindowTools: the tools beside us, as a window sees them. session/tools implements the interface.
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

  /// Attaches them before a test's window opens. False, with a message, if that fails. The caller holds Recorder's
  /// lock, after enter_file().
  virtual bool begin_test() = 0;
  /// No syscall.
  virtual void arm() noexcept = 0;
  virtual void disarm() noexcept = 0;
  /// For a loop inside the test: detach them, and attach them again.
  virtual void suspend(OpenWindow& window) = 0;
  virtual void resume(OpenWindow& window) = 0;
  /// Writes files and rows of a test directly after its window was closed; returns the lines for people. `counted`
  /// still holds the framework's own writes, as the tools' counts do. The caller holds Recorder's lock.
  virtual std::vector<std::string> conclude(OpenWindow& window, const csv::WindowColumns& columns,
                                            const detail::CostData* counted, int framework_writes) = 0;
};

}  // namespace syscost::session
