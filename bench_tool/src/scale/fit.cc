// SPDX-License-Identifier: MIT
#include "scale/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace syscost::bench::scale {
namespace {

std::size_t free_numbers(const Law& law) {
  return (law.a.is_one() ? 0 : 1) + (law.a2.is_zero() || law.a2.is_one() ? 0 : 1) + (law.c.is_zero() ? 0 : 1) +
         (law.has_block() ? 1 : 0);
}

void add(Law law, const std::vector<std::int64_t>& x, std::vector<Law>& laws) {
  law.parameters = free_numbers(law);
  law.distinct = distinct(x);
  laws.push_back(law);
}

/// The block sizes b with ceil(x/b) = k, or floor(x/b) = k.
struct Range {
  std::int64_t low = 1;
  std::int64_t high = std::numeric_limits<std::int64_t>::max();

  bool empty() const { return low > high; }
  void cut(std::int64_t from, std::int64_t to) {
    low = std::max(low, from);
    high = std::min(high, to);
  }
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

void cut_ceil(Range& range, std::int64_t x, std::int64_t k) {
  if (k < 0 || (k == 0) != (x == 0)) return range.cut(1, 0);
  if (k == 0) return;
  range.cut(ceil_div(x, k), k == 1 ? std::numeric_limits<std::int64_t>::max() : ceil_div(x, k - 1) - 1);
}

void cut_floor(Range& range, std::int64_t x, std::int64_t k) {
  if (k < 0) return range.cut(1, 0);
  range.cut(x / (k + 1) + 1, k == 0 ? std::numeric_limits<std::int64_t>::max() : x / k);
}

/// Blocks: y = a k(x) + c, where k(x) of the smallest x is `least`. `scale` is a in units of y.
std::optional<Law> block_law(const Samples& samples, Form form, std::int64_t scale, std::int64_t c, const Law& base) {
  Range range;
  for (std::size_t i = 0; i < samples.x.size() && !range.empty(); ++i) {
    const std::int64_t k = (samples.y[i] - c) / scale;
    form == Form::block_ceil ? cut_ceil(range, samples.x[i], k) : cut_floor(range, samples.x[i], k);
  }
  // Blocks of 1 are no blocks. More calls than sizes in a block are no law of programs, but fit noise.
  range.low = std::max({range.low, std::int64_t{2}, ceil_div(scale, samples.unit)});
  if (range.empty() || range.high == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  Law law = base;
  law.form = form;
  law.a = *rational(scale, samples.unit);
  law.c = *rational(c, samples.unit);
  law.b_low = range.low;
  law.b_high = range.high;
  return law;
}

/// The divisors of a number that may be the a of a block law; all up to this, and the number itself.
constexpr std::int64_t kMostDivisor = 4096;

/// So many numbers of blocks are tried for the smallest size.
constexpr std::int64_t kMostStarts = 10'000;

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= std::min(number, kMostDivisor); ++d) {
    if (number % d == 0) divisors.push_back(d);
  }
  if (number > kMostDivisor) divisors.push_back(number);
  return divisors;
}

/// The smallest and the greatest x with their counts.
struct Ends {
  std::int64_t x_low = 0, x_high = 0, y_low = 0, y_high = 0;
};

std::optional<Ends> ends_of(const Samples& samples) {
  const auto [low, high] = std::minmax_element(samples.x.begin(), samples.x.end());
  const auto at = [&](auto place) { return samples.y[static_cast<std::size_t>(place - samples.x.begin())]; };
  const Ends ends{*low, *high, at(low), at(high)};
  // A law grows: a is positive.
  return ends.x_low < ends.x_high && ends.y_low < ends.y_high && ends.x_low >= 0 ? std::optional(ends) : std::nullopt;
}

std::int64_t clamped(long double value) {
  constexpr long double kLimit = 4e18L;
  return static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit));
}

using Row = std::array<Wide, 3>;

bool product_of(Wide a, Wide b, Wide& out) {
  return !__builtin_mul_overflow(a, b, &out);
}

/// a * d - b * c; nullopt if it does not fit.
std::optional<Wide> determinant(Wide a, Wide b, Wide c, Wide d) {
  Wide ad = 0;
  Wide bc = 0;
  Wide out = 0;
  if (!product_of(a, d, ad) || !product_of(b, c, bc) || __builtin_sub_overflow(ad, bc, &out)) return std::nullopt;
  return out;
}

}  // namespace

std::size_t distinct(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin());
}

void fit_constant(const Samples& samples, std::vector<Law>& laws) {
  const auto differs = [&](std::int64_t y) { return y != samples.y.front(); };
  if (samples.y.empty() || std::any_of(samples.y.begin(), samples.y.end(), differs)) return;
  Law law;
  law.c = *rational(samples.y.front(), samples.unit);
  law.parameters = 1;
  law.distinct = samples.x.size();
  laws.push_back(law);
}

void fit_curve(const Samples& samples, Curve curve, const Law& base, std::vector<Law>& laws) {
  std::vector<std::int64_t> g;
  for (const std::int64_t x : samples.x) {
    const auto value = value_of(curve, x);
    if (!value) return;
    g.push_back(*value);
  }
  const auto [low, high] = std::minmax_element(g.begin(), g.end());
  if (low == high || *low == *high) return;
  const auto first = static_cast<std::size_t>(low - g.begin());
  const auto last = static_cast<std::size_t>(high - g.begin());
  const Wide dy = Wide{samples.y[last]} - samples.y[first];
  const Wide dg = Wide{g[last]} - g[first];
  if (dy <= 0) return;
  for (std::size_t i = 0; i < g.size(); ++i) {
    // (y - y0) / (g - g0) is the same everywhere.
    const auto rest = determinant(Wide{samples.y[i]} - samples.y[first], Wide{g[i]} - g[first], dy, dg);
    if (!rest || *rest != 0) return;
  }
  Law law = base;
  law.form = Form::curve;
  law.curve = curve;
  const auto a = rational(dy, dg * samples.unit);
  if (!a) return;
  const auto grown = product(*a, {-g[first], 1});
  const auto y0 = rational(samples.y[first], samples.unit);
  const auto c = grown && y0 ? sum(*y0, *grown) : std::nullopt;
  if (!c) return;
  law.a = *a;
  law.c = *c;
  add(law, samples.x, laws);
}

void fit_blocks(const Samples& samples, const Law& base, std::vector<Law>& laws) {
  const std::optional<Ends> ends = ends_of(samples);
  if (!ends) return;
  std::int64_t common = 0;
  for (const std::int64_t y : samples.y) common = std::gcd(common, y - samples.y.front());
  const auto dx = static_cast<long double>(ends->x_high - ends->x_low);
  for (const Form form : {Form::block_ceil, Form::block_floor}) {
    for (const std::int64_t scale : divisors_of(common)) {
      // The number of blocks grows by k from the smallest to the greatest size, so b is between dx / (k + 1) and
      // dx / (k - 1), and the blocks of the smallest size are known but for two.
      const std::int64_t growth = (ends->y_high - ends->y_low) / scale;
      const auto k = static_cast<long double>(growth);
      const auto x_low = static_cast<long double>(ends->x_low);
      const std::int64_t from = std::max<std::int64_t>(clamped(x_low * (k - 1) / dx) - 1, 0);
      const std::int64_t to = std::min(clamped(x_low * (k + 1) / dx) + 2, ends->y_low / scale + 1);
      // Sizes that are close together leave too much open.
      if (to - from > kMostStarts) continue;
      for (std::int64_t least = to; least >= from; --least) {
        std::int64_t blocks = 0;
        if (__builtin_mul_overflow(least, scale, &blocks)) continue;
        const std::int64_t c = ends->y_low - blocks;
        if (c < 0 && (c != -scale || form == Form::block_floor)) continue;
        if (auto law = block_law(samples, form, scale, c, base)) add(*law, samples.x, laws);
      }
    }
  }
}

void fit_two_terms(const std::vector<std::array<std::int64_t, 2>>& terms, const Samples& samples, const Law& base,
                   std::vector<Law>& laws) {
  // Differences to the first sample leave a and a2; two samples with independent differences decide them.
  std::vector<Row> rows;
  for (std::size_t i = 1; i < terms.size(); ++i) {
    rows.push_back(
        {Wide{terms[i][0]} - terms[0][0], Wide{terms[i][1]} - terms[0][1], Wide{samples.y[i]} - samples.y[0]});
  }
  for (std::size_t j = 1; j < rows.size(); ++j) {
    const Row& one = rows[0];
    const Row& other = rows[j];
    const auto det = determinant(one[0], one[1], other[0], other[1]);
    if (!det) return;
    if (*det == 0) continue;
    const auto top = determinant(one[2], one[1], other[2], other[1]);
    const auto bottom = determinant(one[0], one[2], other[0], other[2]);
    if (!top || !bottom) return;
    Wide whole = 0;
    if (!product_of(*det, samples.unit, whole)) return;
    const auto a = rational(*top, whole);
    const auto a2 = rational(*bottom, whole);
    if (!a || !a2 || a->num <= 0 || a2->is_zero()) return;
    Law law = base;
    law.form = Form::two_terms;
    law.a = *a;
    law.a2 = *a2;
    const auto first = product(*a, {-terms[0][0], 1});
    const auto second = product(*a2, {-terms[0][1], 1});
    const auto y0 = rational(samples.y[0], samples.unit);
    auto c = first && second ? sum(*first, *second) : std::nullopt;
    if (c && y0) c = sum(*c, *y0);
    if (!c || !y0) return;
    law.c = *c;
    std::vector<std::int64_t> points(samples.y.size());
    std::iota(points.begin(), points.end(), 0);
    add(law, points, laws);
    return;
  }
}

namespace {

constexpr std::int64_t kTooLarge = std::int64_t{1} << 62;

/// Bytes that all iterations handle; nullopt if it does not fit.
std::optional<std::int64_t> handled(Variable x, const Counts& counts, const PassTotal& total) {
  if (total.calls >= kTooLarge) return std::nullopt;
  const auto value = value_of(x, counts.sizes[total.point]);
  return value ? times(*value, total.iterations) : std::nullopt;
}

/// The whole b with floor(all/b) <= calls <= ceil(all/b).
void cut(std::int64_t all, std::int64_t calls, std::int64_t& low, std::int64_t& high) {
  // all/b < calls + 1 and all/b > calls - 1
  low = std::max(low, all / (calls + 1) + 1);
  if (calls > 1) high = std::min(high, (all - 1) / (calls - 1));
}

}  // namespace

void fit_average(const Counts& counts, std::vector<Law>& laws) {
  // Whole counts per iteration have other laws.
  const auto is_whole = [](const Rational& value) { return value.den == 1; };
  if (counts.totals.empty()) return;
  if (!counts.varies && std::all_of(counts.values.begin(), counts.values.end(), is_whole)) return;
  for (const Variable x : {Variable::n, Variable::m, Variable::product}) {
    Law law;
    law.form = Form::average;
    law.x = x;
    law.b_low = 2;
    law.b_high = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> values;
    for (const PassTotal& total : counts.totals) {
      const auto all = handled(x, counts, total);
      if (!all || *all <= 0) return;
      cut(*all, total.calls, law.b_low, law.b_high);
      values.push_back(*value_of(x, counts.sizes[total.point]));
    }
    law.parameters = 1;
    law.distinct = distinct(values);
    if (law.b_low <= law.b_high && law.b_high < std::numeric_limits<std::int64_t>::max()) laws.push_back(law);
    if (!counts.has_two) return;
  }
}

bool average_reproduces(const Law& law, const Counts& counts) {
  if (counts.totals.empty()) return false;
  std::int64_t low = law.b_low;
  std::int64_t high = law.b_high;
  for (const PassTotal& total : counts.totals) {
    const auto all = handled(law.x, counts, total);
    if (!all || *all <= 0) return false;
    cut(*all, total.calls, low, high);
  }
  return low <= high;
}

double average_chance(const Counts& counts) {
  double most = 0;
  double least = std::numeric_limits<double>::max();
  for (const PassTotal& total : counts.totals) {
    most = std::max(most, static_cast<double>(total.calls));
    least = std::min(least, static_cast<double>(total.calls));
  }
  const double numbers = most - least + 1;
  if (numbers < 2) return 1;
  // A list for each b at which a total changes, and each total may be one less or one more.
  const auto points = static_cast<double>(counts.sizes.size());
  const double lists = std::log(points * (most + 1)) + points * std::log(2.0);
  return std::min(1.0, std::exp(lists - points * std::log(numbers)));
}

}  // namespace syscost::bench::scale
