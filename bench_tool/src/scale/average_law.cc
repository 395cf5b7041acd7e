// SPDX-License-Identifier: MIT
#include "scale/average_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "scale/fit.h"

namespace syscost::bench::scale {
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
