// SPDX-License-Identifier: MIT
//
// The list of the abilities that extras add to the dispatch backend.
#include <span>

#include "backends/dispatch/ability.h"
#include "extras/crash/dispatch/file_recorder.h"
#include "extras/faults/dispatch/fault_injector.h"
#include "extras/leaks/dispatch/mapped_peak.h"
#include "extras/trace/dispatch/trace.h"
#include "extras/where/dispatch/call_stacks.h"

namespace syscost::dispatch {

std::span<const AbilityMaker> ability_makers() {
  // In this order: faults show the stacks of calls, if these have some.
  static constexpr AbilityMaker kMakers[] = {
      {make_call_stacks, true},      //
      {make_trace, false},           //
      {make_fault_injector, false},  //
      {make_file_recorder, false},   //
      {make_mapped_peak, false},     //
  };
  return kMakers;
}

}  // namespace syscost::dispatch
