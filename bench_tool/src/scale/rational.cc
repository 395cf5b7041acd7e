// SPDX-License-Identifier: MIT
#include "scale/rational.h"

#include <fmt/format.h>

#include <limits>

namespace syscost::bench::scale {
namespace {

constexpr std::int64_t kLargestNumber = std::numeric_limits<std::int64_t>::max();
/// Denominators of numbers with three decimals.
constexpr std::int64_t kDecimals = 1000;

Wide common_divisor(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

}  // namespace

std::optional<Rational> rational(Wide num, Wide den) {
  if (den == 0) return std::nullopt;
  const Wide divisor = common_divisor(num, den) * (den < 0 ? -1 : 1);
  num /= divisor;
  den /= divisor;
  if (num > kLargestNumber || num < -kLargestNumber || den > kLargestNumber) return std::nullopt;
  return Rational{static_cast<std::int64_t>(num), static_cast<std::int64_t>(den)};
}

std::optional<Rational> sum(const Rational& a, const Rational& b) {
  const Wide left = Wide{a.num} * b.den;
  Wide num = 0;
  if (__builtin_add_overflow(left, Wide{b.num} * a.den, &num)) return std::nullopt;
  return rational(num, Wide{a.den} * b.den);
}

std::optional<Rational> product(const Rational& a, const Rational& b) {
  return rational(Wide{a.num} * b.num, Wide{a.den} * b.den);
}

std::string text_of(const Rational& number) {
  if (number.den == 1) return fmt::format("{}", number.num);
  if (kDecimals % number.den == 0) return fmt::format("{}", number.value());
  return fmt::format("{}/{}", number.num, number.den);
}

std::optional<std::int64_t> times(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

}  // namespace syscost::bench::scale
