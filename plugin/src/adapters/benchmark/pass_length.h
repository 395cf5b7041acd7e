// SPDX-License-Identifier: MIT
//
// How long a counted or traced pass has to be. What a benchmark calls once in a pass (the first touch of a page, the
// start of its threads) is spread over the pass's iterations, so two runs of one program can be compared only if their
// passes are about as long. Wall time alone must therefore not decide: on a busy machine one iteration may take as long
// as a thousand elsewhere.
#pragma once

#include <chrono>
#include <cstdint>

namespace syscost::benchmark_adapter {

/// Iterations of a pass, unless --syscost_cycles asks for others.
constexpr std::uint64_t kPassIterations = 1000;

/// Wall time after which a pass of fewer iterations is long enough. A short one has to be slow beyond what waiting for
/// a processor explains.
constexpr std::chrono::milliseconds long_pass(std::uint64_t iterations) {
  return std::chrono::milliseconds(iterations < 100 ? 500 : 50);
}

}  // namespace syscost::benchmark_adapter
