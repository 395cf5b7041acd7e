// SPDX-License-Identifier: MIT
//
// Loops: the session's side of a loop. It stops charging the running test, and detaches and attaches the backend.
//
// All of it runs on the loop's thread, where no window is armed; but any thread may call attach_for_scope().
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/loops/loop_tools.h"
#include "session/windows/backend_holder.h"
#include "session/windows/measurement.h"
#include "session/windows/windows.h"

namespace syscost::session {

class LoopRun;

class Loops {
 public:
  /// `tools`: null = none. All must outlive it.
  Loops(Measurement& shared, Windows& windows, LoopTools* tools) : shared_(shared), windows_(windows), tools_(tools) {}

  /// Stops charging the running test, and makes `own`. False, with a message, if another loop runs already.
  bool enter(std::string_view name, std::optional<OwnCalls>& own);
  /// Writes the loop's rows, keeps `lines` for people, and charges the test again.
  void leave(std::string_view name, const std::vector<std::string>& lines);
  /// Stops charging the running test for other work that is not the test's. False, without a message, if a loop runs
  /// already.
  bool pause_test();
  /// Charges the test again. Its row says that it excludes `name`.
  void resume_test(std::string_view name);

  /// Null if no backend works.
  OpenBackend* backend() const { return shared_.backend.current(); }
  /// For timed passes. Fails while a scope is open, because the scope would miss calls.
  Result<void> detach_backend(OpenBackend& opened);
  /// False, with a message, if it cannot be attached again.
  bool attach_backend(OpenBackend& opened);
  /// A scope opens on the calling thread while the backend is off: ends the timing of the loop that runs. False when
  /// the backend stays off until the loop's next pass, because only the loop's thread can attach it.
  bool attach_for_scope();

  WindowBook::Window* open_window(OpenBackend& opened);
  /// Null if the counts are void.
  std::shared_ptr<detail::CostData> close_window(OpenBackend& opened, WindowBook::Window* window);
  /// Begins one more pass, for the tools. `window` stays null if no backend works. False, with a message, if the tools
  /// cannot be attached. Arms them as its last step.
  bool open_traced_pass(std::string_view loop, OpenBackend* opened, WindowBook::Window*& window);
  /// Disarms the tools (first thing), and stops them. Null if nothing counted.
  std::shared_ptr<detail::CostData> close_traced_pass(OpenBackend* opened, WindowBook::Window* window);

  /// Adds a row, with the names of the running test.
  void add_row(csv::WindowColumns columns, const detail::CostData* cost, const Capabilities& can);
  void note_problem(const Failure& failure) { shared_.recorder.note_problem(failure); }
  /// As Measurement::take_repetitions().
  std::uint64_t take_repetitions(std::string_view name, std::size_t count) {
    return shared_.take_repetitions(name, count);
  }

  bool is_fork_child() const { return shared_.is_fork_child(); }
  const Options& options() const { return shared_.options; }
  /// Those of the run; null if it has none.
  LoopTools* tools() const { return tools_ != nullptr && tools_->has_tools() ? tools_ : nullptr; }

  /// The running loop, for the end of the process, which may happen on another thread.
  struct Running {
    std::recursive_mutex mutex;  ///< Held between passes. A signal handler may call exit() on the thread that holds it.
    LoopRun* loop = nullptr;
    bool is_between_passes = false;
  };
  Running& running() { return running_; }

 private:
  bool claim_loop();

  Measurement& shared_;
  Windows& windows_;
  LoopTools* const tools_;
  Running running_;
  std::optional<OwnCalls> own_;  // while the test is paused
};

}  // namespace syscost::session
