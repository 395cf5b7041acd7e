// SPDX-License-Identifier: MIT
//
// Log-linear bucket of a latency: histogram_bucket() of syscost/histogram.h in what this folder may use. A test
// compares the two.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/state.h"

namespace syscost::signal_safe {

__attribute__((always_inline)) inline std::uint32_t bucket_of(std::uint64_t ns) {
  if (ns < 8) return static_cast<std::uint32_t>(ns);
  if (ns >= 1ULL << 40) return kBuckets - 1;
  const std::uint32_t exponent = 63 - static_cast<std::uint32_t>(__builtin_clzll(ns));
  return (exponent - 2) * 8 + static_cast<std::uint32_t>((ns >> (exponent - 3)) & 7);
}

}  // namespace syscost::signal_safe
