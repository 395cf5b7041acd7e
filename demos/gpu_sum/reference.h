// SPDX-License-Identifier: MIT
//
// The numbers to add up, and their sum by the CPU: what every result of a GPU is held against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace gpu_sum {

/// `count` integers over all of 32 bits, the same each time: a step of 2^32 / golden ratio visits them evenly.
inline std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::uint32_t next = 1;
  for (std::uint32_t& value : values) value = next += 0x9E37'79B9U;
  return values;
}

/// Modulo 2^32, as the kernels add: the order of additions does not matter.
inline std::uint32_t sum_on_cpu(const std::vector<std::uint32_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint32_t{0});
}

}  // namespace gpu_sum
