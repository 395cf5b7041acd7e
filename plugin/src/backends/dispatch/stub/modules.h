// SPDX-License-Identifier: MIT
//
// The files that frames of call stacks lie in.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/where.h"

namespace syscost::signal_safe {

/// The index of the module that was found, in WhereState::modules; Rule::kNoModule where there is no room for more.
std::uint32_t module_of(const FoundObject& found);

/// [begin, begin + bytes) was unmapped, or replaced: its rules and modules are no more.
void forget_code(std::uint64_t begin, std::uint64_t bytes);

}  // namespace syscost::signal_safe
