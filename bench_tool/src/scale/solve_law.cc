// SPDX-License-Identifier: MIT
#include "scale/solve_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "scale/fit.h"

namespace syscost::bench::scale {
namespace {

constexpr std::array kVariables = {Variable::n,
                                   Variable::m,
                                   Variable::product,
                                   Variable::sum,
                                   Variable::ceil_quotient,
                                   Variable::floor_quotient,
                                   Variable::ceil_inverse,
                                   Variable::floor_inverse};
constexpr std::array kCurvesBeforeBlocks = {Curve::linear, Curve::ceil_log, Curve::floor_log};
constexpr std::array kCurvesAfterBlocks = {Curve::linear_ceil_log, Curve::linear_floor_log, Curve::square, Curve::cube};
constexpr std::array kCurves = {Curve::linear,           Curve::ceil_log, Curve::floor_log, Curve::linear_ceil_log,
                                Curve::linear_floor_log, Curve::square,   Curve::cube};
constexpr std::array kTwoTerms = {Terms::square_and_linear, Terms::n_and_m, Terms::product_and_m, Terms::product_and_n};
constexpr std::size_t kMostAlso = 3;
/// With more sizes, no candidate for a law is looked for by leaving each out.
constexpr std::size_t kMostLeftOut = 64;

/// The counts in units of 1/unit; nullopt if no unit is small enough.
std::optional<Samples> in_units(const Counts& counts) {
  Samples samples;
  for (const Rational& value : counts.values) {
    const auto unit = times(samples.unit / std::gcd(samples.unit, value.den), value.den);
    if (!unit) return std::nullopt;
    samples.unit = *unit;
  }
  for (const Rational& value : counts.values) {
    const auto y = times(value.num, samples.unit / value.den);
    if (!y || *y > kLargestCount) return std::nullopt;
    samples.y.push_back(*y);
  }
  return samples;
}

/// One of the variables, or counts divided by a factor, over which forms are fitted.
struct View {
  Law base;  ///< Has the variable and the factor.
  Samples samples;
};

bool has_blocks(const View& view) {
  return view.base.x == Variable::n || view.base.x == Variable::m || view.base.x == Variable::product;
}

/// Quotients are rounded already: a logarithm or a square of them is no usual law.
bool is_tried(const View& view, Curve curve) {
  return curve == Curve::linear || has_blocks(view);
}

std::optional<View> view_of(const Counts& counts, const Samples& in, Variable variable) {
  View view;
  view.base.x = variable;
  view.samples = in;
  for (const Size& size : counts.sizes) {
    const auto x = value_of(variable, size);
    if (!x) return std::nullopt;
    view.samples.x.push_back(*x);
  }
  return view;
}

/// The counts divided by one of the two sizes, over the other.
std::optional<View> divided_view(const Counts& counts, const Samples& in, Factor factor) {
  const std::size_t by = factor == Factor::n ? 0 : 1;
  View view;
  view.base.x = by == 0 ? Variable::m : Variable::n;
  view.base.factor = factor;
  view.samples.unit = in.unit;
  for (std::size_t i = 0; i < in.y.size(); ++i) {
    const std::int64_t divisor = counts.sizes[i][by];
    if (divisor == 0 || in.y[i] % divisor != 0) return std::nullopt;
    view.samples.x.push_back(counts.sizes[i][1 - by]);
    view.samples.y.push_back(in.y[i] / divisor);
  }
  return view;
}

std::vector<View> views_of(const Counts& counts, const Samples& in) {
  std::vector<View> views;
  const auto add = [&](std::optional<View> view) {
    if (view) views.push_back(std::move(*view));
  };
  for (const Variable variable : kVariables) {
    add(view_of(counts, in, variable));
    if (!counts.has_two) break;
  }
  if (counts.has_two) {
    add(divided_view(counts, in, Factor::m));
    add(divided_view(counts, in, Factor::n));
  }
  return views;
}

std::vector<std::array<std::int64_t, 2>> terms_of(const Counts& counts, Terms terms) {
  std::vector<std::array<std::int64_t, 2>> values;
  for (const Size& size : counts.sizes) {
    const auto pair = values_of(terms, Law(), size);
    if (!pair) return {};
    values.push_back(*pair);
  }
  return values;
}

/// The place of a form in the order in which laws with equally many parameters are said.
std::size_t rank_of(Form form, Curve curve) {
  constexpr std::size_t kLast = 2 * kCurves.size();
  if (form == Form::two_terms || form == Form::average) return kLast;
  const bool is_block = form == Form::block_ceil || form == Form::block_floor;
  // Blocks stand between the logarithms and the rest.
  return is_block ? 2 * kCurvesBeforeBlocks.size() - 1 : 2 * static_cast<std::size_t>(curve);
}

/// The lists that two terms make: as many numbers as they have free ones decide one. An upper bound.
double lists_of_two_terms(const Counts& counts, const Law& law, const CountRange& range) {
  constexpr std::size_t kFewest = 2;
  const std::size_t free =
      law.form == Form::two_terms ? law.parameters : law.parameters - std::min<std::size_t>(law.parameters, 1);
  if (free < kFewest) return 0;
  const double pairs = counts.has_two ? static_cast<double>(kTwoTerms.size()) : 1;
  return pairs * std::pow(range.numbers(), static_cast<double>(std::min<std::size_t>(free, 3)));
}

/// How many lists of counts the laws that stand before `law` in their order, and those like it, make, divided by all
/// lists in the range.
double chance_of(const Counts& counts, const Law& law) {
  const std::size_t parameters = law.parameters;
  const auto in = in_units(counts);
  if (!in) return 1;
  const auto [low, high] = std::minmax_element(in->y.begin(), in->y.end());
  const CountRange range{*low, *high};
  const auto points = static_cast<double>(in->y.size());
  const double all = points * std::log(range.numbers());
  const double enough = std::exp(std::min(all + std::log(kMostChance) - std::log(100.0), 600.0));
  // A form after the law's is said only if it has fewer parameters.
  const auto free_numbers = [&](std::size_t rank) {
    return rank <= rank_of(law.form, law.curve) ? parameters : parameters - std::min<std::size_t>(parameters, 1);
  };
  double lists = 0;
  for (const View& view : views_of(counts, *in)) {
    CountRange part = range;
    if (view.base.factor != Factor::one) {
      const auto [least, most] = std::minmax_element(view.samples.y.begin(), view.samples.y.end());
      part = {*least, *most};
    }
    if (part.low == part.high) continue;
    for (const Curve curve : kCurves) {
      if (!is_tried(view, curve)) continue;
      lists += lists_of_curve(view.samples.x, curve, free_numbers(rank_of(Form::curve, curve)), part);
    }
    if (has_blocks(view)) {
      lists += lists_of_blocks(view.samples.x, free_numbers(rank_of(Form::block_ceil, Curve::linear)), part, enough);
    }
  }
  lists += lists_of_two_terms(counts, law, range);
  return lists <= 0 ? 0 : std::min(1.0, std::exp(std::log(lists) - all));
}

/// How many counts are different.
std::size_t different(const Counts& counts) {
  std::set<std::pair<std::int64_t, std::int64_t>> values;
  for (const Rational& value : counts.values) values.emplace(value.num, value.den);
  return values.size();
}

/// A law needs more different counts than parameters. With two of them it would be no more than a step.
bool has_enough_counts(const Law& law, const Counts& counts) {
  if (law.is_constant()) return counts.sizes.size() >= 2;
  const std::size_t values = std::min(law.distinct, different(counts));
  return values > law.parameters && values >= 3;
}

Counts without(const Counts& counts, std::size_t point) {
  Counts rest;
  rest.has_two = counts.has_two;
  for (std::size_t i = 0; i < counts.sizes.size(); ++i) {
    if (i == point) continue;
    rest.sizes.push_back(counts.sizes[i]);
    rest.values.push_back(counts.values[i]);
  }
  return rest;
}

void take_candidate(const Law& law, const Counts& counts, Solved& solved) {
  solved.law = law;
  solved.has_candidate = true;
  for (std::size_t i = 0; i < counts.sizes.size(); ++i) {
    const auto expected = count_of(law, counts.sizes[i], law.b_low);
    if (expected && *expected != counts.values[i]) solved.breaks.push_back({i, *expected});
  }
}

/// The law of all counts but one, or the number that most counts are.
void find_candidate(const Counts& counts, Solved& solved) {
  std::optional<Law> best;
  const std::size_t left_out = counts.sizes.size() <= kMostLeftOut ? counts.sizes.size() : 0;
  for (std::size_t i = 0; i < left_out; ++i) {
    const Counts rest = without(counts, i);
    const std::vector<Law> laws = fitting_laws(rest);
    if (laws.empty() || !has_enough_counts(laws.front(), rest)) continue;
    if (!laws.front().is_constant() && chance_of(rest, laws.front()) > kMostChance) continue;
    if (!count_of(laws.front(), counts.sizes[i], laws.front().b_low)) continue;
    if (!best || laws.front().parameters < best->parameters) best = laws.front();
  }
  if (best) return take_candidate(*best, counts, solved);
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> times_seen;
  for (const Rational& value : counts.values) ++times_seen[{value.num, value.den}];
  const auto most = std::max_element(times_seen.begin(), times_seen.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == times_seen.end() || 2 * most->second <= counts.values.size()) return;
  Law law;
  law.c = {most->first.first, most->first.second};
  law.parameters = 1;
  take_candidate(law, counts, solved);
}

}  // namespace

bool reproduces(const Law& law, const Counts& counts) {
  if (law.form == Form::average) return average_reproduces(law, counts);
  for (std::size_t i = 0; i < counts.sizes.size(); ++i) {
    for (const std::int64_t b : {law.b_low, law.b_high}) {
      const auto count = count_of(law, counts.sizes[i], b);
      if (!count || *count != counts.values[i]) return false;
    }
  }
  return true;
}

std::vector<Law> fitting_laws(const Counts& counts) {
  std::vector<Law> laws;
  const auto in = in_units(counts);
  if (!in || counts.sizes.empty()) return laws;
  if (counts.varies) {
    fit_average(counts, laws);
    return laws;
  }
  Samples constant = *in;
  constant.x.assign(constant.y.size(), 0);
  fit_constant(constant, laws);
  if (!laws.empty()) return laws;
  const std::vector<View> views = views_of(counts, *in);
  const auto fit_curves = [&](const auto& curves) {
    for (const Curve curve : curves) {
      for (const View& view : views) {
        if (is_tried(view, curve)) fit_curve(view.samples, curve, view.base, laws);
      }
    }
  };
  fit_curves(kCurvesBeforeBlocks);
  for (const View& view : views) {
    if (has_blocks(view)) fit_blocks(view.samples, view.base, laws);
  }
  fit_curves(kCurvesAfterBlocks);
  for (const Terms terms : kTwoTerms) {
    Law base;
    base.terms = terms;
    const auto values = terms_of(counts, terms);
    if (!values.empty()) fit_two_terms(values, *in, base, laws);
    if (!counts.has_two) break;
  }
  fit_average(counts, laws);
  std::erase_if(laws, [&](const Law& law) { return !reproduces(law, counts); });
  std::stable_sort(laws.begin(), laws.end(), [](const Law& a, const Law& b) { return a.parameters < b.parameters; });
  return laws;
}

Solved solve(const Counts& counts) {
  Solved solved;
  const std::vector<Law> laws = fitting_laws(counts);
  if (laws.empty()) {
    if (!counts.varies) find_candidate(counts, solved);
    return solved;
  }
  solved.law = laws.front();
  for (std::size_t i = 1; i < laws.size() && solved.also.size() < kMostAlso; ++i) {
    if (laws[i].parameters <= solved.law.parameters + 1) solved.also.push_back(laws[i]);
  }
  if (solved.law.is_constant()) {
    solved.chance = 0;
  } else if (solved.law.form == Form::average) {
    solved.chance = average_chance(counts);
  } else {
    solved.chance = chance_of(counts, solved.law);
  }
  solved.has_enough_counts = has_enough_counts(solved.law, counts);
  solved.solution = solved.has_enough_counts && solved.chance <= kMostChance ? Solution::law : Solution::too_few;
  return solved;
}

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
