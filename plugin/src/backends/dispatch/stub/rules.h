// SPDX-License-Identifier: MIT
//
// The rules of all addresses that were met so far (cfi.h), kept for all threads.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/cfi.h"
#include "backends/dispatch/stub/where.h"

namespace syscost::signal_safe {

/// The rule of the instruction that the byte at `address` belongs to. Runs on the walker's stack, like unwind().
Rule rule_at(Walker& walker, std::uint64_t address);

}  // namespace syscost::signal_safe
