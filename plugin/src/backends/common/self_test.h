// SPDX-License-Identifier: MIT
//
// The calls by which a backend proves that it counts, and measures what counting adds to a call.
#pragma once

#include <cstdint>

namespace syscost {

/// So many getppid a backend must count as exactly that many before it may be used.
inline constexpr std::uint64_t kKnownCalls = 64;

void make_known_calls();

/// Nanoseconds of one getppid: the median of five rounds of `calls` each, which a preemption does not move.
double getppid_ns(int calls = 200);

}  // namespace syscost
