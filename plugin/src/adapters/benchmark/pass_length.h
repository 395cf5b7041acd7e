// SPDX-License-Identifier: MIT
//
// The length of a counted or traced pass. Calls that happen once in a pass (for the first touch of a page, the start of
// threads) are spread over its iterations. So two runs of one program can be compared only if their passes have about
// the same length. So the length must not depend on wall time alone: on a busy machine one iteration may take as long
// as a thousand elsewhere.
#pragma once

#include <chrono>
#include <cstdint>

namespace syscost::benchmark_adapter {

/// Iterations of a pass, without --syscost_cycles.
constexpr std::uint64_t kPassIterations = 1000;

/// Wall time after which a pass of fewer iterations is long enough. It is so long that waiting for a processor alone
/// does not explain it.
constexpr std::chrono::milliseconds long_pass(std::uint64_t iterations) {
  return std::chrono::milliseconds(iterations < 100 ? 500 : 50);
}

}  // namespace syscost::benchmark_adapter
