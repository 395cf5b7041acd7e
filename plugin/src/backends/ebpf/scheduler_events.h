// SPDX-License-Identifier: MIT
//
// SchedulerEvents: what bpf/scheduler.bpf.h wrote, read from the memory that the programs share with the process.
#pragma once

#include <cstdint>
#include <span>

#include "backends/ebpf/shared.h"
#include "core/scheduler_trace.h"

namespace syscost::ebpf {

class SchedulerEvents final : public SchedulerTrace {
 public:
  /// The head, then the events.
  explicit SchedulerEvents(std::span<syscost_scheduler_block> memory) : memory_(memory) {}

  std::uint64_t take(SchedulerEventSink& sink) override;
  void clear() override;

 private:
  std::span<syscost_scheduler_block> memory_;
};

}  // namespace syscost::ebpf
