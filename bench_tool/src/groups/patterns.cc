// SPDX-License-Identifier: MIT
#include "groups/patterns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace syscost::bench::groups {

Point point_of(const Behaviour& test, std::span<const Syscall> syscalls) {
  Point point;
  for (const Count& count : test.counts) {
    if (syscalls[count.syscall].tells) {
      point.push_back({count.syscall, static_cast<float>(std::log2(1 + count.calls))});
    }
  }
  return point;
}

float difference(const Point& a, const Point& b) {
  float lesser = 0;
  float larger = 0;
  auto in_a = a.begin();
  auto in_b = b.begin();
  while (in_a != a.end() || in_b != b.end()) {
    if (in_b == b.end() || (in_a != a.end() && in_a->syscall < in_b->syscall)) {
      larger += (in_a++)->value;
    } else if (in_a == a.end() || in_b->syscall < in_a->syscall) {
      larger += (in_b++)->value;
    } else {
      lesser += std::min(in_a->value, in_b->value);
      larger += std::max(in_a->value, in_b->value);
      ++in_a;
      ++in_b;
    }
  }
  return larger > 0 ? 1 - lesser / larger : 0;
}

std::vector<Pattern> patterns_of(const Behaviours& behaviours) {
  std::map<Point, std::size_t> indexes;
  std::vector<Pattern> patterns;
  for (std::size_t i = 0; i < behaviours.tests.size(); ++i) {
    Point point = point_of(behaviours.tests[i], behaviours.syscalls);
    if (point.empty()) continue;
    const auto [entry, is_new] = indexes.try_emplace(point, patterns.size());
    if (is_new) patterns.push_back({std::move(point), {}});
    patterns[entry->second].tests.push_back(i);
  }
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const Pattern& a, const Pattern& b) { return a.tests.size() > b.tests.size(); });
  return patterns;
}

Distances distances_of(std::span<const Point> points) {
  Distances distances(points.size());
  for (std::size_t a = 0; a < points.size(); ++a) {
    for (std::size_t b = a + 1; b < points.size(); ++b) distances.set(a, b, difference(points[a], points[b]));
  }
  return distances;
}

}  // namespace syscost::bench::groups
