// SPDX-License-Identifier: MIT
//
// Which of the calls that match a fault are hit, the same in each backend. It includes nothing, because the stub of
// dispatch may include this folder alone.
#pragma once

#include <cstdint>

namespace syscost {

/// Matching calls have numbers from 1 on. Hit are first, first + step, ... up to last; and of these, those for which
/// the generator's number is less than `threshold`.
struct FaultChoice {
  static constexpr std::uint64_t kAlways = ~std::uint64_t{0};

  std::uint64_t first = 1;
  std::uint64_t last = ~std::uint64_t{0};
  std::uint64_t step = 1;
  std::uint64_t threshold = kAlways;
  std::uint64_t seed = 0;
};

/// The n-th number of the generator with this seed: SplitMix64, which gives the n-th without the ones before.
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed + n * 0x9e37'79b9'7f4a'7c15;
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
  return z ^ (z >> 31);
}

constexpr bool is_chosen(const FaultChoice& choice, std::uint64_t n) {
  if (n < choice.first || n > choice.last) return false;
  if (choice.step > 1 && (n - choice.first) % choice.step != 0) return false;
  return choice.threshold == FaultChoice::kAlways || draw(choice.seed, n) < choice.threshold;
}

}  // namespace syscost
