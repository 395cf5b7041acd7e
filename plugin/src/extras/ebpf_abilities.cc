// SPDX-License-Identifier: MIT
//
// The list of the abilities that extras add to the eBPF backend.
#include <span>

#include "backends/ebpf/ability.h"
#include "extras/children/ebpf/child_counts.h"
#include "extras/leaks/ebpf/mapped_peak.h"
#include "extras/scheduler/ebpf/scheduler_events.h"

namespace syscost::ebpf {

std::span<const AbilityMaker> ability_makers() {
  static constexpr AbilityMaker kMakers[] = {
      make_child_counts,      //
      make_scheduler_events,  //
      make_mapped_peak,       //
  };
  return kMakers;
}

}  // namespace syscost::ebpf
