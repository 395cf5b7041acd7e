// SPDX-License-Identifier: MIT
//
// The list of the abilities that extras add to the seccomp backend.
#include <span>

#include "backends/seccomp/ability.h"
#include "extras/faults/seccomp/fault_injector.h"

namespace syscost::seccomp {

std::span<const AbilityMaker> ability_makers() {
  static constexpr AbilityMaker kMakers[] = {make_faults};
  return kMakers;
}

}  // namespace syscost::seccomp
