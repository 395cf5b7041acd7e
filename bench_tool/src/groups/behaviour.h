// SPDX-License-Identifier: MIT
//
// Behaviour: how often a test makes each syscall; and the clusters of the tests' different behaviours.
//
// Many tests make exactly the same calls. They are one pattern, so that a run of thousands of tests has few points.
// Points are clustered by complete linkage, and the silhouette chooses the cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/window_summary.h"

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

/// Complete-linkage clustering: the n - 1 merges, the smallest distance first. If two pairs have the same distance, the
/// one with the lower indexes comes first.
///
/// Each point begins as a cluster. The two clusters with the smallest distance are merged, again and again; the
/// distance of two clusters is the largest one between a point of the first and a point of the second (Defays 1977). So
/// a cluster that was merged at distance d holds no two points that are further apart.
///
/// Among Debian's libraries, dlib has this (bottom_up_cluster). Its package brings 64 others to a machine that builds
/// syscost, OpenCV and X11 among them. Boost has none.
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
  double silhouette = 0;     ///< This cut's.
  double best = 0;           ///< The largest of any cut.
};

/// The fewest clusters that have a silhouette at most `kSlack` below the largest.
BestCut best_cut(const Distances& distances, std::span<const double> weights, std::size_t most);
inline constexpr double kSlack = 0.02;

/// One syscall of a test.
struct Count {
  std::uint32_t syscall = 0;  ///< Index into Behaviours::syscalls.
  double calls = 0;           ///< The median of the repetitions; above 0.
};

/// One test.
struct Behaviour {
  std::string window;  ///< As in WindowSummary::name.
  std::string test;    ///< As in the CSV.
  std::string program;
  std::vector<Count> counts;  ///< Sorted by syscall, each once.
  double calls = 0;           ///< Their sum.
};

/// A syscall of the run.
struct Syscall {
  std::string name;  ///< `write`; the calls of all details together.
  /// False if chance or other tests decide how often it is made: waits, calls that vary (class %volatile), and memory,
  /// because a test takes what earlier tests freed.
  bool tells = true;
};

/// A test that cannot be grouped.
struct LeftOut {
  std::string window;
  std::string reason;
};

/// The tests of a run.
class Behaviours {
 public:
  /// Adds a window; of other kinds than `test`, or counted by another tool, nothing.
  void add(const stats::WindowSummary& window);

  std::vector<Behaviour> tests;
  std::vector<Syscall> syscalls;
  std::vector<LeftOut> left_out;

 private:
  std::uint32_t index_of(const stats::SyscallSummary& call);

  std::map<std::string, std::uint32_t, std::less<>> indexes_;
  std::optional<std::set<std::string_view>> filters_;  ///< Of `tests`: calls that a filter left out are no zeros.
};

/// A coordinate: log2(1 + calls) of a syscall. One call more weighs much if there was none, and little among thousands.
struct Coordinate {
  std::uint32_t syscall = 0;
  float value = 0;  ///< Above 0.

  bool operator==(const Coordinate&) const = default;
  auto operator<=>(const Coordinate&) const = default;
};

using Point = std::vector<Coordinate>;  ///< Sorted by syscall.

/// The calls of `test` that tell what it does; empty for a quiet test.
Point point_of(const Behaviour& test, std::span<const Syscall> syscalls);

/// The part of two tests' calls that they do not share: 1 - sum of the lesser coordinates / sum of the larger ones
/// (weighted Jaccard, also called Ruzicka distance). 0 if the calls are the same, 1 if no syscall is in both.
float difference(const Point& a, const Point& b);

/// A behaviour that one or more tests have.
struct Pattern {
  Point point;
  std::vector<std::size_t> tests;  ///< Indexes into Behaviours::tests.
};

/// The patterns of the tests that are not quiet; those of the most tests first, then in the order of the tests.
std::vector<Pattern> patterns_of(const Behaviours& behaviours);

Distances distances_of(std::span<const Point> points);

}  // namespace syscost::bench::groups
