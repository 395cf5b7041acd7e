// SPDX-License-Identifier: MIT
//
// The abilities of this backend, by the rooms of the extras that have them. A room that is not there leaves its own out.
#include <array>
#include <span>

#include "backends/dispatch/ability.h"

namespace syscost::dispatch {

MadeAbility make_call_stacks(const AbilityContext& context);
MadeAbility make_trace(const AbilityContext& context);
MadeAbility make_fault_injector(const AbilityContext& context);
MadeAbility make_file_recorder(const AbilityContext& context);
MadeAbility make_mapped_peak(const AbilityContext& context);

std::span<const AbilityMaker> ability_makers() {
  static constexpr AbilityMaker kMakers[] = {
#if __has_include("extras/where/dispatch/call_stacks.h")
      {make_call_stacks, true},
#endif
#if __has_include("extras/trace/dispatch/trace.h")
      {make_trace, false},
#endif
#if __has_include("extras/faults/dispatch/fault_injector.h")
      {make_fault_injector, false},
#endif
#if __has_include("extras/crash/dispatch/file_recorder.h")
      {make_file_recorder, false},
#endif
#if __has_include("extras/leaks/dispatch/mapped_peak.h")
      {make_mapped_peak, false},
#endif
      {nullptr, false}};
  return std::span(kMakers).first(std::size(kMakers) - 1);
}

}  // namespace syscost::dispatch
