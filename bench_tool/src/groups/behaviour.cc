// SPDX-License-Identifier: MIT
#include "groups/behaviour.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "model/row_parser.h"

namespace syscost::bench::groups {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// The clusters that are left, and for each one the nearest cluster of a higher index.
class Clusters {
 public:
  explicit Clusters(const Distances& distances)
      : distances_(distances), is_left_(distances.size(), true), nearest_(distances.size(), kNone) {
    for (std::size_t i = 0; i < distances.size(); ++i) look_for_nearest(i);
  }

  Merge merge_nearest() {
    std::size_t best = 0;
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < nearest_.size(); ++i) {
      if (!is_left_[i] || nearest_[i] == kNone || distances_(i, nearest_[i]) >= least) continue;
      best = i;
      least = distances_(i, nearest_[i]);
    }
    const std::size_t gone = nearest_[best];
    is_left_[gone] = false;
    for (std::size_t i = 0; i < nearest_.size(); ++i) {
      if (is_left_[i] && i != best) distances_.set(i, best, std::max(distances_(i, best), distances_(i, gone)));
    }
    // Distances only grew. So a cluster must look again only if its nearest one is one of the two.
    for (std::size_t i = 0; i < gone; ++i) {
      if (is_left_[i] && (i == best || nearest_[i] == gone || nearest_[i] == best)) look_for_nearest(i);
    }
    return {static_cast<std::uint32_t>(best), static_cast<std::uint32_t>(gone), least};
  }

 private:
  void look_for_nearest(std::size_t i) {
    nearest_[i] = kNone;
    for (std::size_t j = i + 1; j < nearest_.size(); ++j) {
      if (is_left_[j] && (nearest_[i] == kNone || distances_(i, j) < distances_(i, nearest_[i]))) {
        nearest_[i] = static_cast<std::uint32_t>(j);
      }
    }
  }

  Distances distances_;
  std::vector<bool> is_left_;
  std::vector<std::uint32_t> nearest_;
};

}  // namespace

std::vector<Merge> complete_linkage(const Distances& distances) {
  Clusters clusters(distances);
  std::vector<Merge> merges;
  for (std::size_t i = 1; i < distances.size(); ++i) merges.push_back(clusters.merge_nearest());
  return merges;
}

std::vector<std::uint32_t> cut(std::size_t points, std::span<const Merge> merges, std::size_t clusters) {
  std::vector<std::uint32_t> parent(points);
  std::iota(parent.begin(), parent.end(), 0);
  // A cluster is named by the lower of two names. So every parent is lower than its child, and comes first below.
  for (const Merge& merge : merges.first(points - clusters)) parent[merge.from] = merge.into;
  std::vector<std::uint32_t> labels(points);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < points; ++i) labels[i] = parent[i] == i ? next++ : labels[parent[i]];
  return labels;
}

double silhouette(const Distances& distances, std::span<const std::uint32_t> labels, std::span<const double> weights) {
  const std::size_t clusters = 1 + *std::max_element(labels.begin(), labels.end());
  std::vector<double> sizes(clusters);
  for (std::size_t i = 0; i < labels.size(); ++i) sizes[labels[i]] += weights[i];
  double sum = 0;
  std::vector<double> to(clusters);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::uint32_t own = labels[i];
    if (sizes[own] <= 1) continue;
    std::fill(to.begin(), to.end(), 0.0);
    const std::span<const float> row = distances.row(i);
    for (std::size_t j = 0; j < labels.size(); ++j) to[labels[j]] += static_cast<double>(row[j]) * weights[j];
    const double inside = to[own] / (sizes[own] - 1);
    double outside = std::numeric_limits<double>::infinity();
    for (std::size_t other = 0; other < clusters; ++other) {
      if (other != own) outside = std::min(outside, to[other] / sizes[other]);
    }
    const double larger = std::max(inside, outside);
    if (larger > 0) sum += weights[i] * (outside - inside) / larger;
  }
  return sum / std::accumulate(weights.begin(), weights.end(), 0.0);
}

BestCut best_cut(const Distances& distances, std::span<const double> weights, std::size_t most) {
  BestCut best;
  best.labels.resize(distances.size());
  most = std::min(most, distances.size());
  if (most < 2) return best;
  const std::vector<Merge> merges = complete_linkage(distances);
  std::vector<double> silhouettes;
  for (std::size_t clusters = 2; clusters <= most; ++clusters) {
    silhouettes.push_back(silhouette(distances, cut(distances.size(), merges, clusters), weights));
  }
  best.best = *std::max_element(silhouettes.begin(), silhouettes.end());
  const auto first =
      std::find_if(silhouettes.begin(), silhouettes.end(), [&](double value) { return value >= best.best - kSlack; });
  best.silhouette = *first;
  best.clusters = 2 + static_cast<std::size_t>(first - silhouettes.begin());
  best.labels = cut(distances.size(), merges, best.clusters);
  return best;
}

namespace {

/// `ioctl` of `ioctl TCGETS`: no name of a syscall holds a space.
std::string_view name_alone(std::string_view name) {
  return name.substr(0, name.find(' '));
}

bool tells(const stats::SyscallSummary& call) {
  return !call.is_wait && !model::has_class(call.classes, "volatile") && !model::has_class(call.classes, "memory");
}

/// Why the counts of `window` cannot be compared with other tests'; empty if they can.
std::string reason_against(const stats::WindowSummary& window) {
  if (!window.is_counted()) return "its calls were not counted";
  if (window.filters.size() > 1) return "it was counted under several filters";
  return std::string(stats::why_lower_bound(window));
}

}  // namespace

std::uint32_t Behaviours::index_of(const stats::SyscallSummary& call) {
  const std::string_view name = name_alone(call.name);
  const auto found = indexes_.find(name);
  if (found != indexes_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(syscalls.size());
  indexes_.emplace(name, index);
  syscalls.push_back({std::string(name), tells(call)});
  return index;
}

void Behaviours::add(const stats::WindowSummary& window) {
  if (window.kind != "test" || !window.is_ours() || window.is_plain) return;
  std::string reason = reason_against(window);
  if (reason.empty() && filters_.value_or(window.filters) != window.filters) reason = "it has another filter";
  if (!reason.empty()) {
    left_out.push_back({window.name, std::move(reason)});
    return;
  }
  filters_ = window.filters;
  Behaviour test{window.name, std::string(window.test), std::string(window.program), {}, 0};
  std::map<std::uint32_t, double> counts;
  for (const stats::SyscallSummary& call : window.syscalls) {
    if (!call.count()) {
      left_out.push_back({window.name, "the calls of " + call.name + " were not counted"});
      return;
    }
    if (call.count()->median > 0) counts[index_of(call)] += call.count()->median;
  }
  for (const auto& [syscall, calls] : counts) {
    test.counts.push_back({syscall, calls});
    test.calls += calls;
  }
  tests.push_back(std::move(test));
}

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
