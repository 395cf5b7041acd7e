// SPDX-License-Identifier: MIT
//
// Traces: the files of --syscost_trace and --syscost_where in the artifacts' folder of each window: `trace.strace`,
// text as of strace, `trace.pftrace` for Perfetto, and `stacks.folded`, call stacks for flamegraph.pl. In a program
// without tests, one pair of traces for the process, at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "extras/profilers/session/artifacts.h"
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
  bool takes_windows() const override { return shared_.options.trace.wanted || shared_.options.where.wanted; }
  void conclude(ClosedWindow& closed) override;
  /// Writes the window's call stacks, if the run has a folder for them.
  void add_columns(ClosedWindow& closed) override;
  void write_stacks(std::string_view kind, std::string_view test, std::string_view name,
                    const detail::CostData& cost) override;
  /// At the process's end: writes what scopes outside of windows have left.
  void end_process() override;

 private:
  /// `stacks`: what the events' stacks are; null = they have none.
  void write(CallTrace& trace, const StackSource* stacks, const std::string& folder, std::string_view spoken,
             const Slice* window);
  void conclude_trace(OpenWindow& window, const std::string& spoken, std::uint64_t end_ns,
                      const std::shared_ptr<const detail::CostData>& cost);

  Measurement& shared_;
  std::optional<Artifacts> artifacts_;
  bool has_told_of_pause_ = false;
};

// A call as a line of `strace -f -ttt -T`, which many tools read.

/// `4711 1767261600.123456789 close(3) = 0 <0.000000123>`, with its newline. `realtime_ns` is what is added to the
/// event's time to make it one since 1970. `site` stands between parentheses after the result, where strace explains
/// one: `close(3) = 0 (at src/log.cc:17 Log::batch+3) <0.000000123>`; empty = none.
std::string strace_line(const CallEvent& event, std::uint64_t realtime_ns, std::string_view site = {});

}  // namespace syscost::session
