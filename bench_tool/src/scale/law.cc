// SPDX-License-Identifier: MIT
#include "scale/law.h"

#include <fmt/format.h>

#include <bit>
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

namespace {

std::int64_t floor_log2(std::int64_t x) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(x))) - 1;
}

std::int64_t ceil_log2(std::int64_t x) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(x) - 1));
}

std::int64_t ceil_quotient(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

std::string variable_text(Variable variable, const SizeNames& names) {
  const auto& [n, m] = names;
  switch (variable) {
    case Variable::n:
      return n;
    case Variable::m:
      return m;
    case Variable::product:
      return n + "*" + m;
    case Variable::sum:
      return "(" + n + " + " + m + ")";
    case Variable::ceil_quotient:
      return "ceil(" + n + "/" + m + ")";
    case Variable::floor_quotient:
      return "floor(" + n + "/" + m + ")";
    case Variable::ceil_inverse:
      return "ceil(" + m + "/" + n + ")";
    case Variable::floor_inverse:
      return "floor(" + m + "/" + n + ")";
  }
  return n;
}

std::string curve_text(Curve curve, const std::string& x, bool are_powers) {
  const char* const up = are_powers ? "log2({})" : "ceil(log2({}))";
  const char* const down = are_powers ? "log2({})" : "floor(log2({}))";
  switch (curve) {
    case Curve::linear:
      return x;
    case Curve::ceil_log:
      return fmt::format(fmt::runtime(up), x);
    case Curve::floor_log:
      return fmt::format(fmt::runtime(down), x);
    case Curve::linear_ceil_log:
      return x + "*" + fmt::format(fmt::runtime(up), x);
    case Curve::linear_floor_log:
      return x + "*" + fmt::format(fmt::runtime(down), x);
    case Curve::square:
      return x + "^2";
    case Curve::cube:
      return x + "^3";
  }
  return x;
}

/// `2n`, `3*ceil(n/4096)`, `n/4096`, `3n/2`.
std::string term_text(const Rational& a, const std::string& what) {
  const bool is_letter = what.size() == 1;
  std::string text = a.num == 1 ? what : fmt::format("{}{}{}", a.num, is_letter ? "" : "*", what);
  return a.den == 1 ? text : fmt::format("{}/{}", text, a.den);
}

std::string with_constant(std::string text, const Rational& c) {
  if (c.is_zero()) return text;
  const Rational size = {c.num < 0 ? -c.num : c.num, c.den};
  return text + (c.num < 0 ? " - " : " + ") + text_of(size);
}

std::string block_text(const Law& law, const std::string& x) {
  const std::string b = law.b_low == law.b_high ? std::to_string(law.b_low) : "b";
  return x + "/" + b;
}

std::string range_text(const Law& law) {
  return law.has_block() && law.b_low != law.b_high ? fmt::format(", b in {}..{}", law.b_low, law.b_high) : "";
}

}  // namespace

std::optional<std::int64_t> value_of(Variable variable, const Size& size) {
  const auto [n, m] = size;
  std::int64_t total = 0;
  switch (variable) {
    case Variable::n:
      return n;
    case Variable::m:
      return m;
    case Variable::product:
      return times(n, m);
    case Variable::sum:
      return __builtin_add_overflow(n, m, &total) ? std::nullopt : std::optional(total);
    case Variable::ceil_quotient:
      return m == 0 ? std::nullopt : std::optional(ceil_quotient(n, m));
    case Variable::floor_quotient:
      return m == 0 ? std::nullopt : std::optional(n / m);
    case Variable::ceil_inverse:
      return n == 0 ? std::nullopt : std::optional(ceil_quotient(m, n));
    case Variable::floor_inverse:
      return n == 0 ? std::nullopt : std::optional(m / n);
  }
  return std::nullopt;
}

std::optional<std::int64_t> value_of(Curve curve, std::int64_t x) {
  const bool has_log = curve != Curve::linear && curve != Curve::square && curve != Curve::cube;
  if (has_log && x < 1) return std::nullopt;
  switch (curve) {
    case Curve::linear:
      return x;
    case Curve::ceil_log:
      return ceil_log2(x);
    case Curve::floor_log:
      return floor_log2(x);
    case Curve::linear_ceil_log:
      return times(x, ceil_log2(x));
    case Curve::linear_floor_log:
      return times(x, floor_log2(x));
    case Curve::square:
      return times(x, x);
    case Curve::cube: {
      const auto square = times(x, x);
      return square ? times(*square, x) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::array<std::int64_t, 2>> values_of(Terms terms, const Law& law, const Size& size) {
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> second;
  switch (terms) {
    case Terms::square_and_linear:
      second = value_of(law.x, size);
      first = second ? times(*second, *second) : std::nullopt;
      break;
    case Terms::n_and_m:
      first = size[0];
      second = size[1];
      break;
    case Terms::product_and_m:
    case Terms::product_and_n:
      first = times(size[0], size[1]);
      second = terms == Terms::product_and_m ? size[1] : size[0];
      break;
  }
  if (!first || !second) return std::nullopt;
  return std::array{*first, *second};
}

std::optional<Rational> count_of(const Law& law, const Size& size, std::int64_t b) {
  std::optional<Rational> count;
  const auto scaled = [&](const std::optional<std::int64_t>& value) -> std::optional<Rational> {
    return value ? product(law.a, {*value, 1}) : std::nullopt;
  };
  const std::optional<std::int64_t> x = value_of(law.x, size);
  switch (law.form) {
    case Form::constant:
      count = Rational{0, 1};
      break;
    case Form::curve:
      count = scaled(x ? value_of(law.curve, *x) : std::nullopt);
      break;
    case Form::block_ceil:
      if (b > 0) count = scaled(x ? std::optional(ceil_quotient(*x, b)) : std::nullopt);
      break;
    case Form::block_floor:
      if (b > 0) count = scaled(x ? std::optional(*x / b) : std::nullopt);
      break;
    case Form::two_terms:
      if (const auto terms = values_of(law.terms, law, size)) {
        const auto first = product(law.a, {(*terms)[0], 1});
        const auto second = product(law.a2, {(*terms)[1], 1});
        if (first && second) count = sum(*first, *second);
      }
      break;
    case Form::average:
      return std::nullopt;
  }
  if (count) count = sum(*count, law.c);
  if (count && law.factor != Factor::one) count = product(*count, {size[law.factor == Factor::n ? 0 : 1], 1});
  return count;
}

std::string text_of(const Law& law, const SizeNames& names, bool are_powers) {
  const std::string x = variable_text(law.x, names);
  std::string text;
  switch (law.form) {
    case Form::constant:
      text = text_of(law.c);
      break;
    case Form::curve:
      text = with_constant(term_text(law.a, curve_text(law.curve, x, are_powers)), law.c);
      break;
    case Form::block_ceil:
      text = with_constant(term_text(law.a, "ceil(" + block_text(law, x) + ")"), law.c);
      break;
    case Form::block_floor:
      text = with_constant(term_text(law.a, "floor(" + block_text(law, x) + ")"), law.c);
      break;
    case Form::two_terms: {
      const auto& [n, m] = names;
      std::array<std::string, 2> words = {n, m};
      if (law.terms == Terms::square_and_linear) words = {x + "^2", x};
      if (law.terms == Terms::product_and_m) words = {n + "*" + m, m};
      if (law.terms == Terms::product_and_n) words = {n + "*" + m, n};
      const Rational second = {law.a2.num < 0 ? -law.a2.num : law.a2.num, law.a2.den};
      text = with_constant(term_text(law.a, words[0]) + (law.a2.num < 0 ? " - " : " + ") + term_text(second, words[1]),
                           law.c);
      break;
    }
    case Form::average:
      text = block_text(law, x) + " on average";
      break;
  }
  if (law.factor != Factor::one) {
    const std::string& factor = names[law.factor == Factor::n ? 0 : 1];
    text = law.c.is_zero() && law.form != Form::two_terms ? factor + "*" + text : factor + "*(" + text + ")";
  }
  return text + range_text(law);
}

std::string rate_words(const Law& law, const SizeNames& names) {
  const std::string& unit = names[law.x == Variable::m ? 1 : 0];
  const bool is_rate = (law.x == Variable::n || law.x == Variable::m) && law.factor == Factor::one && law.c.is_zero();
  if (unit.size() < 2 || !is_rate) return {};
  const bool has_plural = unit.size() > 2 && unit.ends_with('s');
  const auto per = [&](const std::string& calls, const std::string& units, bool is_one) {
    return fmt::format("{} per {}{}", calls, units,
                       is_one ? (has_plural ? unit.substr(0, unit.size() - 1) : unit) : " " + unit);
  };
  if (law.form == Form::curve && law.curve == Curve::linear) {
    return per(std::to_string(law.a.num), law.a.den == 1 ? "" : std::to_string(law.a.den), law.a.den == 1);
  }
  if (!law.has_block()) return {};
  const std::string b =
      law.b_low == law.b_high ? std::to_string(law.b_low) : fmt::format("{}..{}", law.b_low, law.b_high);
  return per(text_of(law.a), b, false);
}

std::optional<double> growth_per_n(const Law& law) {
  if (law.is_constant()) return 0;
  if (law.x != Variable::n || law.factor != Factor::one) return std::nullopt;
  if (law.form == Form::curve && law.curve == Curve::linear) return law.a.value();
  if (law.has_block() && law.b_low > 0) return law.a.value() / static_cast<double>(law.b_low);
  return std::nullopt;
}

}  // namespace syscost::bench::scale
