// SPDX-License-Identifier: MIT
//
// find_among: asks the abilities of a backend for an extension.
#pragma once

#include <string_view>

namespace syscost {

/// The extension of the first ability that has it, as its find() gives it; null = none. `abilities`: a list of
/// pointers.
template <class Abilities>
void* find_among(const Abilities& abilities, std::string_view name) {
  for (const auto& ability : abilities) {
    if (void* const found = ability->find(name)) return found;
  }
  return nullptr;
}

}  // namespace syscost
