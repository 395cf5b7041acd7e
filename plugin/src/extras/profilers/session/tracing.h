// SPDX-License-Identifier: MIT
//
// Tracing: the session's tools beside us, attached around a test and around one more pass of each loop, and nowhere
// else.
//
// Attaching takes long and enters the kernel, so it happens where no window is open; inside, arming and disarming are
// one store each. A loop's timed and counted passes never run under a tool: the test's is stopped before the loop and
// started again after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extras/profilers/session/profiler_session.h"
#include "session/part.h"
#include "session/windows/measurement.h"
#include "session/windows/open_window.h"
#include "session/windows/window_observer.h"

namespace syscost::session {

class Tracing final : public Part, public WindowObserver, private LoopTools {
 public:
  static constexpr std::string_view kPart = "tools";

  explicit Tracing(Measurement& shared, ToolOpener opener = open_tools)
      : shared_(shared), profilers_(std::move(opener)) {}

  std::string_view name() const override { return kPart; }
  WindowObserver* observer() override { return this; }
  std::optional<int> answer() override;
  LoopTools* loop_tools() override { return this; }
  /// Nothing in a counting process, which opens them if it makes passes for them.
  Result<void> start() override;
  /// Opens the tools that the options request, if they are not open yet.
  Result<void> open();
  /// `, traced by bpftrace`.
  std::string note() const override;
  /// Prints a message if tools were requested and there was no window that they could observe.
  void end_rows() override;
  ProfilerSession& profilers() { return profilers_; }
  const ProfilerSession& profilers() const { return profilers_; }

  /// True when the run has tools.
  bool is_on() const override { return profilers_.is_on(); }
  /// `bpftrace`, `bpftrace and perf`.
  std::string names() const { return profilers_.names(); }

  // For a test.

  bool takes_windows() const override { return is_on(); }
  bool takes_long(const OpenWindow& window) const override { return window.has_foreign_time; }
  void prepare(OpenWindow& window) override;
  void arm(OpenWindow& window) noexcept override {
    if (window.has_foreign_time) arm_pass();
  }
  void disarm(OpenWindow& window) noexcept override {
    if (window.has_foreign_time) disarm_pass();
  }
  void suspend(OpenWindow& window) override;
  void resume(OpenWindow& window) override;
  void conclude(ClosedWindow& closed) override;

  // For times of a GPU that no tool took: stamps of GPU kernels (gpu_stamps).

  /// Rows of the running test. All have `repetition`; without it each name is numbered on its own.
  void add_gpu_kernel_times(const std::vector<profilers::TimeFigure>& times,
                            std::optional<std::uint64_t> repetition = {});
  /// The first of `count` repetitions of `name`, in the running test.
  std::uint64_t take_gpu_kernel_repetitions(const std::string& name, std::size_t count) {
    return shared_.take_repetitions("GPU kernel " + name, count);
  }

 private:
  bool has_tools() const override { return is_on(); }
  bool run_inside() const override { return profilers_.tools().runs_inside(); }
  bool are_attached() const override { return profilers_.tools().is_attached(); }
  bool begin_pass(std::string_view loop) override;
  void arm_pass() noexcept override { profilers_.tools().arm(); }
  void disarm_pass() noexcept override { profilers_.tools().disarm(); }
  bool end_pass() override;
  std::vector<std::string> conclude_pass(csv::WindowColumns columns, const detail::CostData* counted) override;

  bool attach();
  bool detach(Findings& findings);
  void add_rows(const csv::WindowColumns& columns, const TracedWindow& traced);

  Measurement& shared_;
  ProfilerSession profilers_;
  Findings findings_;     // of the open test's stretches so far
  Findings of_pass_;      // of the last pass of a loop
  bool is_whole_ = true;  // they were attached in all stretches of the open test
};

}  // namespace syscost::session
