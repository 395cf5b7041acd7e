// SPDX-License-Identifier: MIT
//
// The events of the scheduler that the programs wrote; and the proof that on this kernel they are kept, have our clock,
// and name the right wakers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/ebpf/ability.h"
#include "extras/scheduler/bpf/scheduler_shared.h"
#include "extras/scheduler/core/scheduler_trace.h"
#include "os/errors.h"

namespace syscost::ebpf {

/// Reads the events that scheduler.bpf.h wrote into the memory that the programs share with the process.
class SchedulerEvents final : public Ability, public SchedulerTrace {
 public:
  /// The head, then the events.
  SchedulerEvents(std::span<syscost_scheduler_block> memory, const ForkDetector& fork_detector)
      : memory_(memory), fork_detector_(fork_detector) {}

  /// Null in a fork child, too.
  void* find(std::string_view name) override;
  /// Wakes this thread by a child's end and by a timer, and looks at the events of both.
  Result<void> prove(Backend& backend) override;
  /// Says if the kernel does not show wakers.
  std::string remark() const override { return remark_; }

  std::uint64_t take(SchedulerEventSink& sink) override;
  void clear() override;

 private:
  std::span<syscost_scheduler_block> memory_;
  ForkDetector fork_detector_;
  std::string remark_;
};

/// AbilityMaker.
std::unique_ptr<Ability> make_scheduler_events(const ProcessAttachment& programs);

}  // namespace syscost::ebpf
