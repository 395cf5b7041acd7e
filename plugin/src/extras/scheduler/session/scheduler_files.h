// SPDX-License-Identifier: MIT
//
// SchedulerFiles: the file of --syscost_sched in the artifacts' folder of each window, `sched.csv`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "extras/profilers/session/artifacts.h"
#include "extras/scheduler/core/scheduler_trace.h"
#include "extras/trace/session/mapped_text.h"
#include "session/part.h"
#include "session/windows/measurement.h"
#include "session/windows/open_window.h"
#include "session/windows/window_observer.h"

namespace syscost::session {

class SchedulerFiles final : public Part, public WindowObserver {
 public:
  static constexpr std::string_view kPart = "scheduler";

  explicit SchedulerFiles(Measurement& shared) : shared_(shared) {}

  std::string_view name() const override { return kPart; }
  WindowObserver* observer() override { return this; }
  /// Makes the folder, if the options request it.
  Result<void> start() override;
  bool takes_windows() const override { return shared_.options.scheduler.wanted; }
  void prepare(OpenWindow& window) override;
  void conclude(ClosedWindow& closed) override;
  /// Says so if there was no window to write.
  void end_process() override;

 private:
  Measurement& shared_;
  std::optional<Artifacts> artifacts_;
  bool has_told_of_loop_ = false;
  bool has_window_ = false;
};

// SchedulerText: the file `sched.csv` of a window, which `bench trace TEST --critical-path` reads.
//
//     at_ns,event,thread,name,call,waker,waker_thread,waker_call,count
//     0,begin,4711,main,,,,,
//     1200,blocks,4711,main,futex,,,,
//     5100,woken,4711,main,futex,thread,4712,futex,
//     5900,runs,4711,main,futex,,,,
//     9000,end,4711,main,,,,,
//
// Times are counted from the window's begin. `begin` and `end` name the thread that closed the window. If events found
// no room, a line `lost` stands after the last one that did, with their number.

class SchedulerText final : public SchedulerEventSink {
 public:
  /// Events before `begin_ns` and after `end_ns` are left out.
  SchedulerText(std::uint32_t thread, std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns);

  void add(const SchedulerEvent& event) override;
  /// After all events: how many more there were.
  void finish(std::uint64_t lost);

  const MappedText& text() const { return text_; }

 private:
  void add_edge(std::string_view what, std::uint64_t at_ns);

  const std::uint32_t thread_;
  const std::string name_;
  const std::uint64_t begin_ns_;
  const std::uint64_t end_ns_;
  std::uint64_t last_ns_;
  MappedText text_;
};

}  // namespace syscost::session
