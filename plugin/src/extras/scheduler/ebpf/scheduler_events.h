// SPDX-License-Identifier: MIT
//
// The events of the scheduler that the programs wrote; and the proof that on this kernel they are kept, have our clock,
// and name the right wakers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "backends/ebpf/shared.h"
#include "core/backend.h"
#include "extras/scheduler/core/scheduler_trace.h"
#include "os/errors.h"

namespace syscost::ebpf {

/// Reads the events that bpf/scheduler.bpf.h wrote into the memory that the programs share with the process.
class SchedulerEvents final : public SchedulerTrace {
 public:
  /// The head, then the events.
  explicit SchedulerEvents(std::span<syscost_scheduler_block> memory) : memory_(memory) {}

  std::uint64_t take(SchedulerEventSink& sink) override;
  void clear() override;

 private:
  std::span<syscost_scheduler_block> memory_;
};

/// Wakes this thread by a child's end and by a timer, and looks at the events of both. Between windows only. The
/// remark that it returns says if the kernel does not show wakers; otherwise it is empty.
Result<std::string> prove_scheduler_events(Backend& backend, SchedulerTrace& events);

}  // namespace syscost::ebpf
