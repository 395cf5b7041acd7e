// SPDX-License-Identifier: MIT
//
// Evidence: whether a count that differed between two programs differs by chance.
//
// Before each further run somebody tosses a fair coin: OLD's program or NEW's. The count of the run is shown to four
// gamblers who know all runs before. They bet on which program it was, at fair odds, with a stake of 1 in the
// beginning. If both programs behave alike, nobody can win on average, so what they have on average stays below c with
// a probability of at least 1 - 1/c at all times (Ville 1939). That needs no independent runs, no distribution and no
// quiet machine: only the coin. docs/statistics.md has the argument and the figures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace syscost::bench::judge {

/// A count of one program's run.
struct SeenRun {
  double count = 0;
  bool is_new = false;
};

class Gamblers {
 public:
  /// `seen`: runs that are no evidence, as the first ones, which made the count a case. The gamblers know them.
  explicit Gamblers(const std::vector<SeenRun>& seen);

  /// Takes the count of a further run. A coin chose which program ran.
  void bet(SeenRun run);
  /// Their average wealth: the odds for "NEW makes more calls". 1 at first.
  double evidence() const;

 private:
  struct Sides {
    int of_old = 0;
    int of_new = 0;
  };
  static double odds(const std::vector<Sides>& by_count, std::size_t at, double belief);

  std::map<double, Sides> seen_;
  std::array<double, 4> stakes_{1, 1, 1, 1};
};

/// A false red at most once in so many gates.
inline constexpr double kFalseRedOnceIn = 1000;

/// C(n + m, n): in how many ways n + m runs may be those of two programs.
double arrangements(std::size_t n, std::size_t m);

enum class Decision {
  red,       ///< NEW makes more calls.
  not_red,   ///< A change worth a red is excluded at 95 %.
  in_doubt,  ///< The budget is used up, or would not suffice.
  go_on,     ///< One more run is needed.
};

/// One count in doubt.
class Doubt {
 public:
  /// `first`: the runs that made it one; at least one of each side. `doubts`: how many counts are in doubt in this
  /// gate, all told. `budget`: most further runs.
  Doubt(std::vector<SeenRun> first, std::size_t doubts, std::size_t budget);

  Decision add(SeenRun run);
  Decision decision() const { return decision_; }
  std::size_t runs() const { return runs_.size(); }
  /// The odds for "NEW makes more calls".
  double evidence() const { return gamblers_.evidence(); }
  /// The evidence that makes it red.
  double needed() const { return static_cast<double>(doubts_) * kFalseRedOnceIn; }
  /// The odds for "NEW makes fewer calls".
  double evidence_for_fewer() const;
  /// The smallest number of further calls in each run of NEW from which on this would have been red. Empty: no number.
  std::optional<std::int64_t> told_from() const;
  /// By fewer calls than this NEW has grown, at 95 %. Empty: no number.
  std::optional<std::int64_t> grew_by_less_than() const;

 private:
  bool has_enough_runs() const;
  bool is_small_change_excluded() const;
  double replay(bool is_mirrored, std::int64_t more) const;
  /// The smallest and the largest count of a side, and how many runs it has.
  struct Range {
    double least = 0;
    double most = 0;
    std::size_t runs = 0;
  };
  Range range_of(bool is_new) const;

  std::vector<SeenRun> first_;
  std::size_t doubts_;
  std::size_t budget_;
  std::vector<SeenRun> runs_;
  Gamblers gamblers_;
  Decision decision_ = Decision::go_on;
};

}  // namespace syscost::bench::judge
