// SPDX-License-Identifier: MIT
//
// Rational: an exact number. Laws of counts are solved, not fitted, so no rounding may decide whether one holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace syscost::bench::scale {

/// `num / den` in lowest terms, den > 0.
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;

  bool operator==(const Rational&) const = default;
  bool is_zero() const { return num == 0; }
  bool is_one() const { return num == 1 && den == 1; }
  double value() const { return static_cast<double>(num) / static_cast<double>(den); }
};

using Wide = __int128;

/// Reduces `num / den`; nullopt if the result does not fit, or if `den` is 0.
std::optional<Rational> rational(Wide num, Wide den);

/// nullopt where the result does not fit.
std::optional<Rational> sum(const Rational& a, const Rational& b);
std::optional<Rational> product(const Rational& a, const Rational& b);

/// `3`, `-1/4`; a fraction of a power of ten as a decimal: `0.249`.
std::string text_of(const Rational& number);

/// Checked arithmetic of whole numbers.
std::optional<std::int64_t> times(std::int64_t a, std::int64_t b);

}  // namespace syscost::bench::scale
