// SPDX-License-Identifier: MIT
//
// Ability: what the seccomp backend can do beside counting, for an extra. ability_makers() lists them; the backend
// knows none of them.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/seccomp/shared.h"
#include "os/own_calls.h"

namespace syscost::seccomp {

/// A fork child has none of the memory that is shared with the supervisor: each function asks first.
class Ability {
 public:
  virtual ~Ability() = default;
  Ability(const Ability&) = delete;
  Ability& operator=(const Ability&) = delete;

  /// The interface with this kExtension (Backend::extension()), if it has it; else null.
  virtual void* find(std::string_view name) = 0;

 protected:
  Ability() = default;
};

using Abilities = std::vector<std::unique_ptr<Ability>>;

/// Never null. Both arguments outlive the ability.
using AbilityMaker = std::unique_ptr<Ability> (*)(Shared& shared, const ForkDetector& fork_detector);
std::span<const AbilityMaker> ability_makers();

}  // namespace syscost::seccomp
