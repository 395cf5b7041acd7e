// SPDX-License-Identifier: MIT
//
// Open counts: those that differ between two runs, and that further runs decide.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "judge/verdict.h"

namespace syscost::bench::judge {

/// Both sides: before each run a coin has chosen the side, and judge/evidence.h decides.
/// NEW alone: a count that was exact stays so if a further run repeats it. Any other is decided when all of NEW's lie
/// beyond all of OLD's in so many runs as decide_doubts() asks for, and it is no change when one of NEW's does not.
class OpenCounts {
 public:
  static constexpr std::size_t kMostRuns = kMostRunsAgain;

  /// The counts in doubt in `rows`, and those that grew (of syncs: those that changed). The rows' windows must
  /// outlive it.
  OpenCounts(const std::vector<Comparison>& rows, RunsAgain which);

  /// Tests with a count that is still open, or that may leave more open or mapped.
  std::size_t tests() const;
  /// Some may: further runs list what is left (SYSCOST_LEAKS).
  bool asks_for_leaks() const { return !leaks_.empty(); }
  /// The programs of these tests.
  std::set<std::string> programs() const;
  /// Takes one more run of a side: its windows, and what comparing it with a run of the other side found. A test that
  /// is not in it, that failed, or that lost events says nothing.
  void take(const std::vector<stats::WindowSummary>& windows, const std::vector<Comparison>& rows, bool is_new);
  /// Sets counts, verdict and reason of a row of the first comparison by what the runs decided.
  void apply_to(Comparison& row) const;
  /// `: 2 of 2 tests decided; no change after all: Log.Reads`; "" if none was open.
  std::string text() const;

 private:
  using Decision = judge::Decision;

  /// One count, in one direction.
  struct Count {
    Delta delta;       ///< As first compared.
    std::string test;  ///< As it is shown.
    std::string program;
    const stats::WindowSummary* first = nullptr;  ///< NEW's of the first comparison.
    bool is_fewer = false;                        ///< Whether NEW makes fewer is the question.
    std::vector<double> of_old;                   ///< Those of all runs, the first ones included.
    std::vector<double> of_new;
    std::optional<judge::Doubt> doubt;  ///< Where both sides run again.
    std::size_t runs = 0;               ///< Further ones.
    Decision decision = Decision::go_on;

    bool is_exact() const { return !delta.is_in_doubt; }
    bool agrees_in_each_side() const;
  };

  /// A test of which calls say that it may leave more.
  struct Leak {
    std::string program;
    const stats::WindowSummary* first = nullptr;  ///< NEW's of the first comparison.
    bool is_open = true;
    std::optional<double> descriptors;
    std::optional<double> mapped;
  };

  void add(const Comparison& row, const Delta& delta, bool is_fewer);
  void take(Count& count, double found, bool is_new);
  void decide_beside_file(Count& count) const;
  std::vector<const Count*> counts_of(const Comparison& row, const Delta& delta) const;
  std::string reason_of(const Count& count) const;

  double needed_ = 0;                                 ///< Where OLD is a file: arrangements that decide.
  std::map<std::string, std::vector<Count>> counts_;  ///< By program and name of the test.
  std::map<std::string, Leak> leaks_;                 ///< In the same way.
};

}  // namespace syscost::bench::judge
