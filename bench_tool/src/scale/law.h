// SPDX-License-Identifier: MIT
//
// Law: a formula that says how often a syscall is called for each size. Counts are exact, so a law reproduces every
// count or it is none. docs/scale.md lists the formulas. Its numbers are exact, because no rounding may decide whether
// it holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syscost::bench::scale {

/// An exact number: `num / den` in lowest terms, den > 0. Laws of counts are solved, not fitted.
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

/// The sizes of one test: `n` and `m`. A family of one size has m = 1 everywhere.
using Size = std::array<std::int64_t, 2>;
/// The names of the two in formulas. The second is empty in a family of one size.
using SizeNames = std::array<std::string, 2>;

/// The quantity that a law grows with. The order is the order in which laws are tried.
enum class Variable { n, m, product, sum, ceil_quotient, floor_quotient, ceil_inverse, floor_inverse };

/// A curve over the variable x: x, ceil(log2 x), floor(log2 x), x ceil(log2 x), x floor(log2 x), x^2, x^3.
enum class Curve { linear, ceil_log, floor_log, linear_ceil_log, linear_floor_log, square, cube };

enum class Form {
  constant,     ///< c
  curve,        ///< a curve(x) + c
  block_ceil,   ///< a ceil(x / b) + c
  block_floor,  ///< a floor(x / b) + c
  two_terms,    ///< a t1 + a2 t2 + c; see Terms
  average       ///< x / b on average: over all iterations of a benchmark, rounded up or down
};

enum class Terms { square_and_linear, n_and_m, product_and_m, product_and_n };

/// All of the law is multiplied by this.
enum class Factor { one, n, m };

struct Law {
  Form form = Form::constant;
  Variable x = Variable::n;
  Curve curve = Curve::linear;
  Terms terms = Terms::square_and_linear;
  Factor factor = Factor::one;
  Rational a = {1, 1};
  Rational a2;
  Rational c;
  std::int64_t b_low = 0;  ///< Block laws and averages: every b from here to b_high reproduces every count.
  std::int64_t b_high = 0;
  std::size_t parameters = 0;  ///< Numbers that the counts decided: a (unless it is 1), b, and c (unless it is 0).
  std::size_t distinct = 0;    ///< Values of its variable among the sizes; two_terms: sizes.

  bool has_block() const { return form == Form::block_ceil || form == Form::block_floor || form == Form::average; }
  bool is_constant() const { return form == Form::constant; }
  bool operator==(const Law&) const = default;
};

/// The variable's value; nullopt where it has none (a quotient by 0), or where it is too large.
std::optional<std::int64_t> value_of(Variable variable, const Size& size);
/// The curve's value at `x`; nullopt where it has none (a logarithm of 0), or where it is too large.
std::optional<std::int64_t> value_of(Curve curve, std::int64_t x);
/// The values of the two terms.
std::optional<std::array<std::int64_t, 2>> values_of(Terms terms, const Law& law, const Size& size);

/// The count that the law says; nullopt where it says none. Block laws: with the block size `b`. An average has none.
std::optional<Rational> count_of(const Law& law, const Size& size, std::int64_t b);

/// Reads `law` as a formula: `2n + 3`, `ceil(n/b), b in 4090..4100`. `names` has names of one letter or more.
/// `are_powers`: every size is a power of two, so the logarithms are whole.
std::string text_of(const Law& law, const SizeNames& names, bool are_powers = false);

/// `1 per 4096 bytes`, if the law has a rate that words can say and the size has a name of several letters; else "".
std::string rate_words(const Law& law, const SizeNames& names);

/// The growth of a law for one more `n`, on average over many; nullopt if that is no constant. 0 for a constant law.
std::optional<double> growth_per_n(const Law& law);

}  // namespace syscost::bench::scale
