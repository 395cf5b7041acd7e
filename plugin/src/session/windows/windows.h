// SPDX-License-Identifier: MIT
//
// Windows: the windows of an adapter, one after another: tests, set-ups of suites, environments.
//
// The order inside open() and close() matters: all our code that enters the kernel runs before the window is armed or
// after it is disarmed, so that an empty test has 0 calls.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "session/windows/backend_holder.h"
#include "session/windows/between_and_intervals.h"
#include "session/windows/measurement.h"
#include "session/windows/open_window.h"
#include "session/windows/window_observer.h"
#include "syscost/adapter.h"

namespace syscost::session {

/// Whether the outcome that close() gets for a test is settled.
enum class Outcome {
  settled,
  may_change,  ///< Its rows wait for settle_outcome().
};

class Windows {
 public:
  /// `observers` must outlive it.
  Windows(Measurement& shared, std::vector<WindowObserver*> observers)
      : shared_(shared), between_(shared), observers_(std::move(observers)) {}

  /// From now on, what happens while no window is open has a window of its own (between_and_intervals.h).
  void begin_between() { between_.begin(); }

  void open(const adapter::WindowName& name);
  /// The window of a command that runs below this process: its counts are those of the processes below. `starter` as in
  /// OpenWindow.
  void open_command(std::string_view command, std::string_view starter);
  /// Before close(): which program's calls are the window's own.
  void set_own_program(std::string_view program);
  /// Forgets the open window. It gets no row.
  void discard();
  adapter::Report close(std::string_view outcome, int framework_writes, Outcome is = Outcome::settled);
  /// Writes the rows that wait for it, if any do.
  void settle_outcome(std::string_view outcome);
  /// For a process that ends: the row of an open window has the counts so far, and no outcome. Keeps the rows of what
  /// happened between windows.
  void end_at_exit();

  // For a loop inside the window, on the window's thread. They leave the window alone if none is open.

  /// Who works while the window is not charged.
  enum class Pause {
    loop,       ///< A loop of syscost.
    framework,  ///< Its calls are those between windows.
  };
  /// From now on, calls and time are not charged to the window. Makes `own` before its first syscall.
  void stop_charging(std::optional<OwnCalls>& own, Pause pause = Pause::loop);
  /// Takes the time since stop_charging() out of the window. Its row says that it excludes loop `excluded`, unless that
  /// is empty.
  void leave_out_pause(std::string_view excluded);
  /// Charges the window again; the last step.
  void charge_again(Pause pause = Pause::loop);

  /// The result of syscost::cycles(), which becomes column `iterations` of the running test.
  int cycles(int fallback);

 private:
  void arm();
  OpenBackend* backend_of_open_scopes() const;
  void write_marker(const char* what, const OpenWindow& window) const;
  std::shared_ptr<detail::CostData> read_and_check(OpenWindow& window, std::shared_ptr<const Unavailable>& why_not);
  bool claim_closing();
  void end_open_window();
  adapter::Report finish_closing(std::string_view outcome, int framework_writes, Outcome is);
  void explain_fork_child_with_window() const;

  /// Calls `what` of each observer that takes windows.
  template <class Function, class... Arguments>
  void tell(Function what, Arguments&&... arguments) const {
    for (WindowObserver* one : observers_) {
      if (one->takes_windows()) (one->*what)(arguments...);
    }
  }

  Measurement& shared_;
  Between between_;
  const std::vector<WindowObserver*> observers_;
  std::atomic<bool> is_closing_{false};  // the open window; never reset before the next one opens
  std::atomic<int> cycles_{0};           // last answer inside the open window; 0 = none
};

}  // namespace syscost::session
