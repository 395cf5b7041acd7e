// SPDX-License-Identifier: MIT
//
// Traces: the files of --syscost_trace, --syscost_where and --syscost_sched in the artifacts' folder of each window:
// `trace.strace`, text as of strace, `trace.pftrace` for Perfetto, `stacks.folded`, call stacks for flamegraph.pl, and
// `sched.csv`, the scheduler's events. In a program without tests, one pair of traces for the process, at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "extras/profilers/session/artifacts.h"
#include "extras/scheduler/core/scheduler_trace.h"
#include "extras/trace/core/call_trace.h"
#include "extras/trace/session/mapped_text.h"
#include "session/part.h"
#include "session/windows/measurement.h"
#include "session/windows/open_window.h"
#include "session/windows/window_observer.h"

namespace syscost::session {

class Traces final : public Part, public WindowObserver, public StackFiles {
 public:
  static constexpr std::string_view kPart = "traces";

  explicit Traces(Measurement& shared) : shared_(shared) {}

  std::string_view name() const override { return kPart; }
  WindowObserver* observer() override { return this; }
  /// Makes the folder, if the options request one of them.
  Result<void> start() override;
  bool takes_windows() const override {
    return shared_.options.trace.wanted || shared_.options.scheduler.wanted || shared_.options.where.wanted;
  }
  void prepare(OpenWindow& window) override;
  void conclude(ClosedWindow& closed) override;
  /// Writes the window's call stacks, if the run has a folder for them.
  void add_columns(ClosedWindow& closed) override;
  void write_stacks(std::string_view kind, std::string_view test, std::string_view name,
                    const detail::CostData& cost) override;
  /// At the process's end: writes what scopes outside of windows have left, and prints a message if there was no window
  /// to write the scheduler's events of.
  void end_process() override;

 private:
  /// `stacks`: what the events' stacks are; null = they have none.
  void write(CallTrace& trace, const StackSource* stacks, const std::string& folder, std::string_view spoken,
             const Slice* window);
  void conclude_trace(OpenWindow& window, const std::string& spoken, std::uint64_t end_ns,
                      const std::shared_ptr<const detail::CostData>& cost);
  void conclude_scheduler(OpenWindow& window, const std::string& spoken, std::uint64_t end_ns,
                          const std::shared_ptr<const detail::CostData>& cost);
  Result<std::string> folder_of(OpenWindow& window) const;

  Measurement& shared_;
  std::optional<Artifacts> artifacts_;
  bool has_told_of_pause_ = false;
  bool has_told_of_loop_ = false;
  bool has_scheduler_window_ = false;
};

// A call as a line of `strace -f -ttt -T`, which many tools read.

/// `4711 1767261600.123456789 close(3) = 0 <0.000000123>`, with its newline. `realtime_ns` is what is added to the
/// event's time to make it one since 1970. `site` stands between parentheses after the result, where strace explains
/// one: `close(3) = 0 (at src/log.cc:17 Log::batch+3) <0.000000123>`; empty = none.
std::string strace_line(const CallEvent& event, std::uint64_t realtime_ns, std::string_view site = {});

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
