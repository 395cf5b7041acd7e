// SPDX-License-Identifier: MIT
//
// Leaks: what windows leave open, with --syscost_leaks: descriptors, threads, child processes.
//
// A test leaves what is open at its end and was not open at its begin. The set-up of a suite opens things for the
// suite's tests, so it leaves nothing itself. They belong to the suite: if they are still open when its tear-down has
// ended, the tear-down leaves them. The same holds for environments.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "os/proc.h"
#include "session/windows/measurement.h"
#include "session/windows/open_window.h"

namespace syscost::session {

/// Not thread-safe. Makes syscalls: call it before the window is armed, and after it is disarmed. The caller holds the
/// lock of the recorder, which gets the reason if /proc cannot be read.
class Leaks {
 public:
  void begin(OpenWindow& window, Measurement& shared);
  /// Last before the window is armed, and first after it is disarmed: what other threads map in between belongs to no
  /// window.
  static void begin_calls(const OpenWindow& window, const Measurement& shared);
  static void end_calls(OpenWindow& window, const Measurement& shared);
  /// Nullopt: begin() was not called, or could not read; or the window is a set-up. `cost`: what the window counted;
  /// null if nothing.
  std::optional<LeftOpen> end(OpenWindow& window, const detail::CostData* cost, Measurement& shared);

 private:
  using Owner = std::pair<adapter::Kind, std::string>;  // a suite, or the environments

  std::map<Owner, OpenThings> of_set_ups_;  // what they opened, and what was open at each begin of a window since then
};

/// Sets the lines that opened or started what is left, if `opened` counts with --syscost_where. Makes syscalls. The
/// caller holds the lock of the recorder.
void name_openers(LeftOpen& left, const OpenBackend* opened, Measurement& shared);

}  // namespace syscost::session
