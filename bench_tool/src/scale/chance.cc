// SPDX-License-Identifier: MIT
#include "scale/chance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace syscost::bench::scale {
namespace {

std::int64_t blocks_in(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// The lists s g + c with whole s > 0 and c, where g grows by `span`: for each s so many c keep them in the range.
double shifted_multiples(double numbers, double span) {
  const double most = std::floor((numbers - 1) / span);
  return most * numbers - span * most * (most + 1) / 2;
}

/// The most blocks that the greatest size can have in a list within the range.
double most_blocks(std::int64_t x_low, std::int64_t x_high, std::size_t parameters, const CountRange& range) {
  if (parameters == 1) return static_cast<double>(range.high);
  const double grows = static_cast<double>(x_high) / static_cast<double>(x_high - x_low);
  return range.numbers() * grows + 2;
}

/// An upper bound of the block sizes at which the number of blocks of some x changes.
double steps_bound(const std::vector<std::int64_t>& x, double most) {
  double steps = 0;
  for (const std::int64_t one : x) steps += std::min(most, 2 * std::sqrt(static_cast<double>(one)) + 1);
  return steps;
}

/// The block sizes themselves: the smallest with each number of blocks.
std::vector<std::int64_t> steps_of(const std::vector<std::int64_t>& x, double most) {
  std::vector<std::int64_t> steps;
  for (const std::int64_t one : x) {
    if (one == 0) continue;  // it has no block, whatever its size
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(one))) + 1;
    const auto last = static_cast<std::int64_t>(std::min(most, static_cast<double>(root)));
    for (std::int64_t k = 1; k <= last; ++k) steps.push_back(blocks_in(one, k));
    if (most < static_cast<double>(root)) continue;
    for (std::int64_t b = 1; b <= root; ++b) {
      if (static_cast<double>(blocks_in(one, b)) <= most) steps.push_back(b);
    }
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

/// More steps than these are not looked at one by one.
constexpr double kMostSteps = 1e6;

}  // namespace

double lists_of_curve(const std::vector<std::int64_t>& x, Curve curve, std::size_t parameters,
                      const CountRange& range) {
  std::int64_t least = 0;
  std::int64_t greatest = 0;
  std::int64_t divisor = 0;  // of all values
  std::int64_t step = 0;     // of their differences
  std::int64_t first = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto value = value_of(curve, x[i]);
    if (!value) return 0;
    if (i == 0) first = least = greatest = *value;
    least = std::min(least, *value);
    greatest = std::max(greatest, *value);
    divisor = std::gcd(divisor, *value);
    step = std::gcd(step, *value - first);
  }
  if (step == 0) return 0;
  const double numbers = range.numbers();
  const auto span = static_cast<double>(greatest - least);
  if (parameters == 0) return 1;
  if (parameters == 1) {
    const double multiples =
        std::floor(static_cast<double>(range.high) / (static_cast<double>(greatest) / static_cast<double>(divisor)));
    return 1 + multiples + std::max(0.0, numbers - span);
  }
  return 1 + shifted_multiples(numbers, span / static_cast<double>(step));
}

double lists_of_blocks(const std::vector<std::int64_t>& x, std::size_t parameters, const CountRange& range,
                       double enough) {
  if (parameters == 0 || x.empty()) return 0;
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  if (*low == *high || *low < 0) return 0;
  const double most = most_blocks(*low, *high, parameters, range);
  const double numbers = range.numbers();
  const double each = parameters == 1 ? 1 : parameters == 2 ? 2 * numbers : numbers * numbers;
  const double bound = 2 * steps_bound(x, most) * each;
  if (bound <= enough || steps_bound(x, most) > kMostSteps) return bound;
  double lists = 0;
  for (const std::int64_t b : steps_of(x, most)) {
    const auto top = static_cast<double>(blocks_in(*high, b));
    const double span = top - static_cast<double>(blocks_in(*low, b));
    if (span < 1 || span > numbers - 1) continue;
    if (parameters == 1) lists += top <= static_cast<double>(range.high) ? 1 : 0;
    if (parameters == 2) lists += numbers - span + std::floor(static_cast<double>(range.high) / top);
    if (parameters >= 3) lists += shifted_multiples(numbers, span);
  }
  return 2 * lists;
}

}  // namespace syscost::bench::scale
