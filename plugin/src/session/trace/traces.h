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

#include "session/tools/artifacts.h"
#include "session/windows/measurement.h"
#include "session/windows/window_trace.h"

namespace syscost::session {

class Traces final : public WindowTrace {
 public:
  explicit Traces(Measurement& shared) : shared_(shared) {}

  /// Makes the folder, if the options request one of them.
  Result<void> start();
  void prepare(const OpenWindow& window) override;
  void conclude(OpenWindow& window, const std::string& spoken, std::uint64_t end_ns,
                const std::shared_ptr<const detail::CostData>& cost) override;
  void write_stacks(OpenWindow& window, const detail::CostData& cost) override;
  void write_stacks(std::string_view kind, std::string_view test, std::string_view name,
                    const detail::CostData& cost) override;
  /// At the process's end: writes what scopes outside of windows have left, and prints a message if there was no window
  /// to write the scheduler's events of.
  void conclude_process();

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

}  // namespace syscost::session
