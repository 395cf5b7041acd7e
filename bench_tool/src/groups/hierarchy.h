// SPDX-License-Identifier: MIT
//
// Hierarchy: complete-linkage clustering, and the silhouette by which a cut is chosen.
//
// Each point begins as a cluster. The two clusters with the smallest distance are merged, again and again; the distance
// of two clusters is the largest one between a point of the first and a point of the second (Defays 1977). So a cluster
// that was merged at distance d holds no two points that are further apart. Of Debian's libraries, dlib has this
// (bottom_up_cluster); its package brings 64 others to a machine that builds syscost, OpenCV and X11 among them. Boost
// has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace syscost::bench::groups {

/// Distances of n points: symmetric, 0 on the diagonal.
class Distances {
 public:
  explicit Distances(std::size_t n) : n_(n), values_(n * n) {}

  std::size_t size() const { return n_; }
  float operator()(std::size_t a, std::size_t b) const { return values_[a * n_ + b]; }
  void set(std::size_t a, std::size_t b, float distance) { values_[a * n_ + b] = values_[b * n_ + a] = distance; }
  std::span<const float> row(std::size_t a) const { return {values_.data() + a * n_, n_}; }

 private:
  std::size_t n_;
  std::vector<float> values_;
};

/// Two clusters that became one. Each is named by one of its points.
struct Merge {
  std::uint32_t into = 0;
  std::uint32_t from = 0;
  float distance = 0;
};

/// The n - 1 merges, the smallest distance first. If two pairs have the same distance, the one with the lower indexes
/// comes first.
std::vector<Merge> complete_linkage(const Distances& distances);

/// For each point, the number of its cluster if the merges stop at `clusters` (1 to the number of points): 0, 1, ... in
/// the order of the first points.
std::vector<std::uint32_t> cut(std::size_t points, std::span<const Merge> merges, std::size_t clusters);

/// The mean silhouette (Rousseeuw 1987) of points that stand for `weights[i]` equal ones each: (b - a) / max(a, b),
/// where a is the mean distance to the others of the same cluster, and b that to the nearest other cluster. 0 for a
/// point that is alone in its cluster. `labels` has at least two different values, 0, 1, ...
double silhouette(const Distances& distances, std::span<const std::uint32_t> labels, std::span<const double> weights);

/// The best cut into 2 to `most` clusters.
struct BestCut {
  std::vector<std::uint32_t> labels;
  std::size_t clusters = 1;  ///< 1 if there are fewer than two points.
  double silhouette = 0;     ///< Of this cut.
  double best = 0;           ///< The largest of any cut.
};

/// The fewest clusters that have a silhouette at most `kSlack` below the largest.
BestCut best_cut(const Distances& distances, std::span<const double> weights, std::size_t most);
inline constexpr double kSlack = 0.02;

}  // namespace syscost::bench::groups
